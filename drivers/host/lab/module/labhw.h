/* SPDX-License-Identifier: GPL-2.0 */
/* What the two halves of the board know of each other; see main.c. */
#include <linux/device.h>
#include <linux/slab.h>

enum { F_I2C, F_SPI, F_GPIO, F_PWM, FAULTS };
extern int fault[FAULTS];	/* errno of each that fails, or 0 */

void put(char *what);		/* logs what and takes it */
#define note(...) put(kasprintf(GFP_ATOMIC, __VA_ARGS__))

int gpio_up(struct device *dev);
int wire(const char *name, char w);
void reset(void);
