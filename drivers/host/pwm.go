package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

// pwm is one channel in /sys/class/pwm.
type pwm struct {
	name    string
	path    string // ".../pwmchip0/pwm1"
	period  int64  // ns
	release func()
}

// exportWait bounds how long udev may take to give us a new channel's files.
const exportWait = time.Second

// PWM takes a channel, with duty 0.
func (b *Board) PWM(channel string, frequency physic.Frequency) (drivers.PWM, error) {
	chip, number, ok := strings.Cut(channel, "/")
	n, err := strconv.ParseUint(number, 10, 16)
	if !ok || err != nil {
		return nil, fmt.Errorf("PWM channel %q: %w, want chip and number as in pwmchip0/1", channel, drivers.ErrNoLine)
	}
	if frequency <= 0 {
		return nil, fmt.Errorf("PWM channel %s: a frequency of %s is not possible", channel, frequency)
	}
	dir, err := b.pwmChip(chip)
	if err != nil {
		return nil, err
	}
	release, err := b.claim(fmt.Sprintf("PWM channel %s/%d", filepath.Base(dir), n), channel)
	if err != nil {
		return nil, err
	}
	p := &pwm{name: channel, path: filepath.Join(dir, fmt.Sprintf("pwm%d", n)), period: int64(frequency.Period()), release: release}
	if err = p.export(dir, n); err == nil {
		err = p.start()
	}
	if err != nil {
		release()
		return nil, err
	}
	return p, nil
}

// pwmChip finds a chip by its number or by the device that it belongs to.
func (b *Board) pwmChip(chip string) (string, error) {
	class := filepath.Join(b.sys, "class", "pwm")
	for _, name := range names(filepath.Join(class, "pwmchip*")) {
		device, _ := filepath.EvalSymlinks(filepath.Join(class, name, "device"))
		if name == chip || device != "" && filepath.Base(device) == chip {
			return filepath.Join(class, name), nil
		}
	}
	return "", fmt.Errorf("PWM chip %s: %w, see /sys/class/pwm, and enable PWM in the board's configuration", chip, drivers.ErrNoLine)
}

// export makes the channel's files appear and waits until they may be written.
func (p *pwm) export(dir string, n uint64) error {
	if _, err := os.Stat(p.path); err == nil {
		return nil
	}
	err := os.WriteFile(filepath.Join(dir, "export"), []byte(strconv.FormatUint(n, 10)), 0)
	if err != nil {
		return explain("PWM channel "+p.name, err)
	}
	for end := time.Now().Add(exportWait); ; time.Sleep(10 * time.Millisecond) {
		f, err := os.OpenFile(filepath.Join(p.path, "enable"), os.O_WRONLY, 0)
		if err == nil {
			return f.Close()
		}
		if time.Now().After(end) {
			return explain("PWM channel "+p.name, err)
		}
	}
}

// start brings the channel to duty 0. The kernel refuses a period below the
// duty, and any duty before there is a period.
func (p *pwm) start() error {
	if old, err := p.read("period"); err == nil && old > 0 {
		if err := p.write("duty_cycle", 0); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		file  string
		value int64
	}{{"period", p.period}, {"duty_cycle", 0}, {"enable", 1}} {
		if err := p.write(step.file, step.value); err != nil {
			return err
		}
	}
	return nil
}

// SetDuty sets the share of on-time, 0 to 1.
func (p *pwm) SetDuty(share float64) error {
	if !(share >= 0 && share <= 1) { // NaN too
		return &drivers.FieldError{Field: "duty", Problem: "is out of range: want a share from 0 to 1"}
	}
	return p.write("duty_cycle", int64(share*float64(p.period)))
}

// Duty reads the share back from the kernel; a channel that somebody has
// disabled has none.
func (p *pwm) Duty() (float64, error) {
	enabled, err := p.read("enable")
	if err != nil || enabled == 0 {
		return 0, err
	}
	period, err := p.read("period")
	if err != nil {
		return 0, err
	}
	duty, err := p.read("duty_cycle")
	if err != nil || period <= 0 {
		return 0, err
	}
	return float64(duty) / float64(period), nil
}

// Close gives the channel back and leaves the duty as it is; unexporting
// would stop it.
func (p *pwm) Close() error {
	p.release()
	return nil
}

func (p *pwm) write(file string, value int64) error {
	f, err := os.OpenFile(filepath.Join(p.path, file), os.O_WRONLY|os.O_TRUNC, 0)
	if err == nil {
		_, err = f.WriteString(strconv.FormatInt(value, 10))
		err = errors.Join(err, f.Close())
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EINVAL):
		return fmt.Errorf("PWM channel %s: the chip does not take %s %d ns: %w", p.name, file, value, err)
	}
	return explain("PWM channel "+p.name, err)
}

func (p *pwm) read(file string) (int64, error) {
	b, err := os.ReadFile(filepath.Join(p.path, file))
	if err != nil {
		return 0, explain("PWM channel "+p.name, err)
	}
	return strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
}
