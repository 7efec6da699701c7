// Package host is the board that the gateway runs on: GPIO lines through the
// kernel's character device, PWM through sysfs, I2C and SPI through periph,
// cameras through Video4Linux, the network through net. It needs Linux 5.10 or
// newer.
//
// Names are what the kernel says, so that a configuration survives a reboot:
//
//	line     "GPIO17"             the line's name, looked for on every chip
//	         "pinctrl-rp1/17"     a chip's label or name, and the offset on it
//	PWM      "pwmchip0/1"         chip and channel
//	         "1f00098000.pwm/2"   the chip's device, which no renumbering moves
//	I2C      "i2c-1"              as in /dev
//	SPI      "spidev0.0"          as in /dev
//	camera   "/dev/video0"        a path of /dev
//	         "/dev/v4l/by-id/..." the same, whatever socket it is in
//
// A line is taken as an output, as an input with its edges, or for its pulses:
// lows as short as a keypad's, of which only the beginning is asked for. A chip
// without interrupts gives inputs to read, but no edges and no pulses: those
// are drivers.ErrUnsupported.
//
// A camera may be away when it is taken. It is looked for with each call, and
// open only as long as that lasts.
//
// What the board does not have is drivers.ErrNoLine with the name in its text;
// what another program holds is drivers.ErrInUse.
//
// Where the whole machine stands still, nothing of this runs: every output stays
// as it is until the hardware watchdog resets the machine, 15 s later at most as
// systemd/60-roomgate-watchdog.conf sets it. From then on it is as after a power
// cut: lines are inputs until the gateway takes them, and the resistors hold.
//
// # Why
//
// Lines are asked for with ioctls of our own. A door's output must get its
// first level in the very request that makes it an output; the library sends
// the level afterwards, and in between the kernel drives the line low. A
// read-back of an output by the library turns it into an input. Nor may
// periph's host drivers be initialised: that closes file descriptor 0 where
// two names lead to one chip.
package host
