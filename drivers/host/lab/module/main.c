// SPDX-License-Identifier: GPL-2.0
/*
 * labhw - a board for tests: one GPIO chip with named lines, one I2C adapter,
 * one SPI controller with a spidev node, one PWM chip of four channels. User
 * space sees the kernel's ordinary interfaces. What is wired to the board is
 * not here but in a process that has /dev/labhw open, a text device.
 *
 * Each read gives one line of what happened since it was opened, oldest first,
 * and blocks until there is one:
 *
 *   NS gpio NAME 0|1|in      an output changed, or is no output any more
 *   NS pwm CHANNEL DUTY PERIOD     in ns; duty 0 is off
 *   NS i2c SEQ ADDR READ HEX|-     bytes written to a chip, then READ to read
 *   NS spi SEQ SPEED HEX|-   a transfer at so many Hz
 *   NS mark TEXT             what "mark" wrote
 *
 * NS is CLOCK_MONOTONIC. Each written line is one of
 *
 *   wire NAME 0|1|z|e        the level from outside; z floats, e cannot be read
 *   reply SEQ ERRNO HEX|-    the answer to an i2c or spi line, within a second
 *   fail i2c|spi|gpio|pwm ERRNO    every operation fails, until ERRNO is 0
 *   reset                    outputs become inputs, as after a loss of power
 *   mark TEXT
 *   wait MICROSECONDS        before the next line of the same write
 *   hang                     the whole machine stands still, interrupts off
 *
 * While nobody has the device open no chip acknowledges. Kernel 6.1.
 */
#include <linux/delay.h>
#include <linux/i2c.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/poll.h>
#include <linux/pwm.h>
#include <linux/slab.h>
#include <linux/spi/spi.h>
#include <linux/stop_machine.h>

#include "labhw.h"

#define LOGSIZE 8192
#define MAXREAD 256

static struct platform_device *pdev;
static DEFINE_SPINLOCK(lk);	/* the log, the lines, the faults, the answers */
static DECLARE_WAIT_QUEUE_HEAD(wq);
static atomic_t attached;	/* how many have the device open */

/* ---- the log ---- */
static struct { u64 t; char *what; } lg[LOGSIZE];
static u64 lgn;

void put(char *what)
{
	unsigned long fl;

	if (!what)
		return;
	spin_lock_irqsave(&lk, fl);
	kfree(lg[lgn % LOGSIZE].what);
	lg[lgn % LOGSIZE].what = what;
	lg[lgn++ % LOGSIZE].t = ktime_get_ns();
	spin_unlock_irqrestore(&lk, fl);
	wake_up_interruptible(&wq);
}

/* ---- faults ---- */
static const char * const faultname[] = { "i2c", "spi", "gpio", "pwm" };
int fault[FAULTS];

/* ---- transactions that the outside answers ---- */
static struct answer {
	u32 seq; int err; bool done; unsigned int n; u8 data[MAXREAD];
} answers[2];	/* of I2C and of SPI: either bus has one at a time */
static u32 lastseq;

static int ask(int bus, const char *what, const u8 *tx, unsigned int txn, u8 *rx, unsigned int rxn)
{
	struct answer *a = &answers[bus];
	char *line, *p;
	long left;

	if (fault[bus])
		return -fault[bus];
	if (!atomic_read(&attached))
		return bus == F_I2C ? -ENXIO : 0;
	line = kmalloc(2 * txn + 64, GFP_KERNEL);
	if (!line)
		return -ENOMEM;
	spin_lock_irq(&lk);
	a->seq = ++lastseq;
	a->done = false;
	spin_unlock_irq(&lk);
	p = line + sprintf(line, "%s %u ", faultname[bus], a->seq);
	p += sprintf(p, "%s", what);
	*bin2hex(p, tx, txn) = 0;
	if (!txn)
		strcpy(p, "-");
	put(line);
	left = wait_event_timeout(wq, READ_ONCE(a->done), HZ);
	spin_lock_irq(&lk);
	a->seq = 0;
	if (left && !a->err && rxn) {
		memset(rx, 0xff, rxn);	/* nobody drives the rest */
		memcpy(rx, a->data, min(rxn, a->n));
	}
	spin_unlock_irq(&lk);
	return left ? -a->err : -ETIMEDOUT;
}

static int reply(u32 seq, int err, const char *hex)
{
	int i, rc = -ESTALE;	/* too late */
	unsigned int n = *hex == '-' ? 0 : strlen(hex) / 2;

	if (n > MAXREAD || err < 0)
		return -EINVAL;
	spin_lock_irq(&lk);
	for (i = 0; i < 2; i++)
		if (seq && answers[i].seq == seq) {
			rc = hex2bin(answers[i].data, hex, n);
			answers[i].n = n;
			answers[i].err = err;
			WRITE_ONCE(answers[i].done, true);
		}
	spin_unlock_irq(&lk);
	wake_up_all(&wq);
	return rc;
}

/* ---- I2C ---- */
static int i2c_xfer(struct i2c_adapter *a, struct i2c_msg *m, int n)
{
	int i, err = 0;

	for (i = 0; i < n && !err; i++) {
		struct i2c_msg *w = m[i].flags & I2C_M_RD ? NULL : &m[i], *r = NULL;
		char what[24];

		if (!w)
			r = &m[i];
		else if (i + 1 < n && m[i + 1].flags & I2C_M_RD && m[i + 1].addr == w->addr)
			r = &m[++i];
		sprintf(what, "%02x %u ", m[i].addr, r ? r->len : 0);
		err = ask(F_I2C, what, w ? w->buf : NULL, w ? w->len : 0, r ? r->buf : NULL, r ? r->len : 0);
	}
	return err ? err : n;
}

static u32 i2c_func(struct i2c_adapter *a)
{
	return I2C_FUNC_I2C | I2C_FUNC_SMBUS_EMUL;
}

static const struct i2c_algorithm algo = { .master_xfer = i2c_xfer, .functionality = i2c_func };
static struct i2c_adapter adap = { .owner = THIS_MODULE, .algo = &algo, .name = "labhw i2c" };

/* ---- SPI ---- */
static struct spi_controller *spi;

static int spi_one(struct spi_controller *c, struct spi_device *d, struct spi_transfer *t)
{
	char what[16];

	if (t->rx_buf)
		memset(t->rx_buf, 0, t->len);
	sprintf(what, "%u ", t->speed_hz);
	return ask(F_SPI, what, t->tx_buf, t->tx_buf ? t->len : 0, t->rx_buf, t->rx_buf ? t->len : 0);
}

static struct spi_board_info spidev_info = {
	.modalias = "dh2228fv", .max_speed_hz = 20000000, .mode = SPI_MODE_0,
};

/* ---- PWM ---- */
static struct pwm_chip pc;
static struct pwm_state ps[4];

static int pwm_apply(struct pwm_chip *c, struct pwm_device *p, const struct pwm_state *s)
{
	if (fault[F_PWM])
		return -fault[F_PWM];
	ps[p->hwpwm] = *s;
	note("pwm %u %llu %llu", p->hwpwm, s->enabled ? s->duty_cycle : 0, s->period);
	return 0;
}

static void lab_pwm_get(struct pwm_chip *c, struct pwm_device *p, struct pwm_state *s)
{
	*s = ps[p->hwpwm];
}

static int lab_pwm_get_i(struct pwm_chip *c, struct pwm_device *p, struct pwm_state *s)
{
	lab_pwm_get(c, p, s);
	return 0;
}

static const struct pwm_ops pops = {
	.apply = pwm_apply, .owner = THIS_MODULE,
	/* stable 6.1 kernels differ in the return type of get_state */
	.get_state = __builtin_choose_expr(
		__builtin_types_compatible_p(typeof(((struct pwm_ops *)0)->get_state), typeof(&lab_pwm_get)),
		lab_pwm_get, lab_pwm_get_i),
};

/* ---- /dev/labhw ---- */
static int stand_still(void *unused)
{
	for (;;)
		cpu_relax();
	return 0;
}

static int command(char *s)
{
	char *w = strsep(&s, " "), *a = s ? strsep(&s, " ") : NULL, *b = s ? strsep(&s, " ") : NULL;
	int i, err;
	u32 seq;

	if (!strcmp(w, "reset")) {
		reset();
		return 0;
	}
	if (!strcmp(w, "hang"))
		return stop_machine(stand_still, NULL, NULL);
	if (!strcmp(w, "mark") && a) {
		note("mark %s", a);
		return 0;
	}
	if (!strcmp(w, "wait") && a && !kstrtou32(a, 10, &seq) && seq <= 10000) {
		if (seq)
			usleep_range(seq, seq + 10);
		return 0;
	}
	if (!a || !b)
		return -EINVAL;
	if (!strcmp(w, "wire"))
		return wire(a, *b);
	if (!strcmp(w, "reply"))
		return kstrtou32(a, 10, &seq) || kstrtoint(b, 10, &err) || !s ? -EINVAL : reply(seq, err, s);
	i = match_string(faultname, FAULTS, a);
	if (strcmp(w, "fail") || i < 0 || kstrtoint(b, 10, &err) || err < 0)
		return -EINVAL;
	fault[i] = err;
	return 0;
}

static ssize_t dev_write(struct file *f, const char __user *u, size_t n, loff_t *pos)
{
	char *buf, *s, *p;
	int err = 0;

	if (n > 16 * MAXREAD)
		return -EINVAL;
	buf = memdup_user_nul(u, n);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	for (s = buf; !err && (p = strsep(&s, "\n"));)
		if (*p)
			err = command(p);
	kfree(buf);
	return err ? err : n;
}

static ssize_t dev_read(struct file *f, char __user *u, size_t n, loff_t *pos)
{
	u64 *next = f->private_data;	/* not the file's: a write would set that back */
	char *what = NULL;
	char stamp[24];
	u64 t;
	int at, err;

	if (READ_ONCE(lgn) <= *next && f->f_flags & O_NONBLOCK)
		return -EAGAIN;
	err = wait_event_interruptible(wq, READ_ONCE(lgn) > *next);
	if (err)
		return err;
	spin_lock_irq(&lk);
	if (*next + LOGSIZE < lgn)
		*next = lgn - LOGSIZE;	/* too slow: the oldest are gone */
	t = lg[*next % LOGSIZE].t;
	what = kasprintf(GFP_ATOMIC, "%s\n", lg[*next % LOGSIZE].what);
	spin_unlock_irq(&lk);
	if (!what)
		return -ENOMEM;
	at = sprintf(stamp, "%llu ", t);
	err = at + strlen(what);
	if (n < err)
		err = -EMSGSIZE;
	else if (copy_to_user(u, stamp, at) || copy_to_user(u + at, what, err - at))
		err = -EFAULT;
	else
		(*next)++;
	kfree(what);
	return err;
}

static __poll_t dev_poll(struct file *f, poll_table *p)
{
	u64 *next = f->private_data;

	poll_wait(f, &wq, p);
	return EPOLLOUT | EPOLLWRNORM | (READ_ONCE(lgn) > *next ? EPOLLIN | EPOLLRDNORM : 0);
}

static int dev_open(struct inode *i, struct file *f)
{
	u64 *next = kmalloc(sizeof(*next), GFP_KERNEL);

	if (!next)
		return -ENOMEM;
	*next = READ_ONCE(lgn);
	f->private_data = next;
	atomic_inc(&attached);
	return stream_open(i, f);
}

static int dev_release(struct inode *i, struct file *f)
{
	atomic_dec(&attached);
	kfree(f->private_data);
	return 0;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE, .open = dev_open, .release = dev_release,
	.read = dev_read, .write = dev_write, .poll = dev_poll, .llseek = no_llseek,
};
static struct miscdevice misc = { .minor = MISC_DYNAMIC_MINOR, .name = "labhw", .fops = &fops };

static int __init lab_up(void)
{
	int err;

	pdev = platform_device_register_simple("labhw", -1, NULL, 0);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	err = gpio_up(&pdev->dev);
	if (err)
		goto dev;
	adap.dev.parent = &pdev->dev;
	err = i2c_add_adapter(&adap);
	if (err)
		goto dev;
	err = -ENOMEM;
	spi = spi_alloc_master(&pdev->dev, 0);
	if (!spi)
		goto i2c;
	spi->bus_num = 0; spi->num_chipselect = 1;
	spi->mode_bits = SPI_CPOL | SPI_CPHA | SPI_CS_HIGH | SPI_NO_CS | SPI_LSB_FIRST;
	spi->bits_per_word_mask = SPI_BPW_MASK(8);
	spi->transfer_one = spi_one;
	err = spi_register_controller(spi);
	if (err) {
		spi_controller_put(spi);
		goto i2c;
	}
	spi_new_device(spi, &spidev_info);
	pc.dev = &pdev->dev; pc.ops = &pops; pc.npwm = 4; pc.base = -1;
	err = pwmchip_add(&pc);
	if (err)
		goto spi;
	err = misc_register(&misc);
	if (!err)
		return 0;
	pwmchip_remove(&pc);
spi:
	spi_unregister_controller(spi);
i2c:
	i2c_del_adapter(&adap);
dev:
	platform_device_unregister(pdev);
	return err;
}

/* There is no exit: the machine is thrown away. */
module_init(lab_up);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A board for tests whose outside world is a process");
