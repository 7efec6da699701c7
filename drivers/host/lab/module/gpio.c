// SPDX-License-Identifier: GPL-2.0
/* The GPIO lines of the board; see main.c. */
#include <linux/gpio/driver.h>
#include <linux/module.h>
#include <linux/pinctrl/pinconf-generic.h>

#include "labhw.h"

#define MAXLINE 32

static char *lines = "spare";
module_param(lines, charp, 0444);
MODULE_PARM_DESC(lines, "comma separated names of the GPIO lines");

static struct gpio_chip gc;
static const char *names[MAXLINE];
static struct { u8 out, val, bias, masked; char wire; unsigned int type; } ln[MAXLINE];

static int level(int o)
{
	if (ln[o].out)
		return ln[o].val;
	if (ln[o].wire == '0' || ln[o].wire == '1')
		return ln[o].wire == '1';
	return ln[o].bias == 1;
}

static int g_dir(struct gpio_chip *c, unsigned int o)
{
	return ln[o].out ? GPIO_LINE_DIRECTION_OUT : GPIO_LINE_DIRECTION_IN;
}

static int g_get(struct gpio_chip *c, unsigned int o)
{
	if (fault[F_GPIO])
		return -fault[F_GPIO];
	return ln[o].wire == 'e' ? -EIO : level(o);
}

static void g_set(struct gpio_chip *c, unsigned int o, int v)
{
	if (fault[F_GPIO])	/* the kernel's interface has no way to tell */
		return;
	if (ln[o].val != !!v || !ln[o].out)
		note("gpio %s %d", names[o], !!v);
	ln[o].val = !!v;
}

static int g_in(struct gpio_chip *c, unsigned int o)
{
	if (fault[F_GPIO])
		return -fault[F_GPIO];
	if (ln[o].out)
		note("gpio %s in", names[o]);
	ln[o].out = 0;
	return 0;
}

static int g_out(struct gpio_chip *c, unsigned int o, int v)
{
	if (fault[F_GPIO])
		return -fault[F_GPIO];
	if (!ln[o].out || ln[o].val != !!v)
		note("gpio %s %d", names[o], !!v);
	ln[o].val = !!v;
	ln[o].out = 1;
	return 0;
}

static int g_config(struct gpio_chip *c, unsigned int o, unsigned long cfg)
{
	switch (pinconf_to_config_param(cfg)) {
	case PIN_CONFIG_BIAS_PULL_UP: ln[o].bias = 1; return 0;
	case PIN_CONFIG_BIAS_PULL_DOWN: ln[o].bias = 2; return 0;
	case PIN_CONFIG_BIAS_DISABLE: ln[o].bias = 0; return 0;
	default: return -ENOTSUPP;
	}
}

static void q_mask(struct irq_data *d)
{
	ln[irqd_to_hwirq(d)].masked = 1;
	gpiochip_disable_irq(&gc, irqd_to_hwirq(d));
}

static void q_unmask(struct irq_data *d)
{
	gpiochip_enable_irq(&gc, irqd_to_hwirq(d));
	ln[irqd_to_hwirq(d)].masked = 0;
}

static int q_type(struct irq_data *d, unsigned int type)
{
	if (type & ~IRQ_TYPE_EDGE_BOTH)
		return -EINVAL;
	ln[irqd_to_hwirq(d)].type = type;
	return 0;
}

static const struct irq_chip qchip = {
	.name = "labhw", .irq_mask = q_mask, .irq_unmask = q_unmask,
	.irq_set_type = q_type, .flags = IRQCHIP_IMMUTABLE,
	GPIOCHIP_IRQ_RESOURCE_HELPERS,
};

int wire(const char *name, char w)
{
	int o, before, after;
	unsigned long fl;

	for (o = 0; o < gc.ngpio && strcmp(names[o], name); o++)
		;
	if (o == gc.ngpio || !strchr("01ze", w))
		return -EINVAL;
	before = level(o);
	ln[o].wire = w;
	after = level(o);
	if (before != after && !ln[o].masked &&
	    (ln[o].type & (after ? IRQ_TYPE_EDGE_RISING : IRQ_TYPE_EDGE_FALLING))) {
		local_irq_save(fl);
		generic_handle_domain_irq(gc.irq.domain, o);
		local_irq_restore(fl);
	}
	return 0;
}

void reset(void)
{
	int o;

	for (o = 0; o < gc.ngpio; o++)
		g_in(&gc, o);
}

int gpio_up(struct device *dev)
{
	char *p, *s;
	int n = 0;

	p = kstrdup(lines, GFP_KERNEL);
	while (p && (s = strsep(&p, ",")) && n < MAXLINE) {
		ln[n].wire = 'z';
		ln[n].masked = 1;
		names[n++] = s;
	}
	gc.label = "labhw"; gc.parent = dev; gc.owner = THIS_MODULE;
	gc.base = -1; gc.ngpio = n; gc.names = names;
	gc.get_direction = g_dir; gc.get = g_get; gc.set = g_set;
	gc.direction_input = g_in; gc.direction_output = g_out;
	gc.set_config = g_config;
	gpio_irq_chip_set_chip(&gc.irq, &qchip);
	gc.irq.handler = handle_simple_irq;
	gc.irq.default_type = IRQ_TYPE_NONE;
	return devm_gpiochip_add_data(dev, &gc, NULL);
}
