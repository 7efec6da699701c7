package sim

import (
	"errors"
	"fmt"
	"time"
)

// Backlight is what makes a display visible: switched by a Line (high is lit)
// or dimmed by a PWM channel, whichever is named.
type Backlight struct {
	Faults `yaml:"-"`
	glow   `yaml:"-"`
	Line   string `yaml:"line"`
	PWM    string `yaml:"pwm"`
}

// Attach wires it into the world.
func (b *Backlight) Attach(w *World) error {
	switch {
	case b.Line != "" && b.PWM != "":
		return errors.New("a backlight has a line or a pwm, not both: remove one")
	case b.PWM != "":
		return w.feed(b.PWM, &b.Faults, b.light)
	}
	return w.listen(b.Line, &b.Faults, func(high bool, now time.Time) { b.light(level(high), now) })
}

// State says how it is.
func (b *Backlight) State() string {
	return fmt.Sprintf("backlight at %.0f %%", 100*b.Brightness())
}
