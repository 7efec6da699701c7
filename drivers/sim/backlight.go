package sim

import (
	"errors"
	"fmt"
	"time"
)

// Backlight is what makes a display visible: switched by a Line (high is lit)
// or dimmed by a PWM channel, whichever is named.
type Backlight struct {
	faults `yaml:"-"`
	glow   `yaml:"-"`
	Line   string `yaml:"line"`
	PWM    string `yaml:"pwm"`
}

func (*Backlight) subjects() []string { return nil }

func (b *Backlight) attach(w *World) error {
	switch {
	case b.Line != "" && b.PWM != "":
		return errors.New("a backlight has a line or a pwm, not both: remove one")
	case b.PWM != "":
		return w.feed(b.PWM, &b.faults, b.light)
	}
	return w.listen(b.Line, &b.faults, func(high bool, now time.Time) { b.light(level(high), now) })
}

func (*Backlight) verbs(string) []verb { return nil }

func (b *Backlight) state() string {
	return fmt.Sprintf("backlight at %.0f %%", 100*b.Brightness())
}
