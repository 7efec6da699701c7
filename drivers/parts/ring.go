package parts

import (
	"context"
	"fmt"
	"sync"
	"time"

	"roomgate/drivers"
)

// retryRing is how long a moving ring waits after a transfer that failed.
const retryRing = time.Second

// ring is the light on its SPI port.
type ring struct {
	port drivers.SPI
	name string
	kind strip
	leds int
	move show

	mu   sync.Mutex
	look look
	err  error
}

func (r *ring) describe() drivers.SubDevice {
	return drivers.SubDevice{
		Name:    drivers.SubRing,
		Summary: "a ring of coloured light",
		Values:  []string{drivers.On, drivers.Off},
		Actions: []drivers.Action{
			{Name: drivers.ActOn, Summary: "switch the ring on, as it last looked"},
			{Name: drivers.ActOff, Summary: "switch the ring off"},
			{
				Name:    drivers.ActColor,
				Summary: "show a color",
				Params:  []drivers.Param{{Name: drivers.ValueName, Kind: drivers.KindColor}},
			},
			{
				Name:    drivers.ActBrightness,
				Summary: "set how bright the ring is; 0 is off",
				Params: []drivers.Param{{
					Name: drivers.ValueName, Kind: drivers.KindInteger, Unit: "%", Min: 0, Max: 100,
				}},
			},
			{
				Name:    drivers.ActPattern,
				Summary: "shine steadily, blink, breathe or turn",
				Params: []drivers.Param{{
					Name: drivers.ValueName, Kind: drivers.KindChoice,
					Choices: []string{solid, blink, breathe, rotate},
				}},
			},
		},
	}
}

// after is the look that a command asks for.
func (l look) after(c drivers.Command) (look, error) {
	var err error
	l.on = c.Action != drivers.ActOff
	switch c.Action {
	case drivers.ActColor:
		l.color, err = parseColor(c.Args.Text(drivers.ValueName))
	case drivers.ActBrightness:
		percent := int(c.Args.Number(drivers.ValueName))
		if l.on = percent > 0; l.on { // off keeps what "on" restores
			l.brightness = min(percent, 100)
		}
	case drivers.ActPattern:
		l.pattern = c.Args.Text(drivers.ValueName)
	}
	return l, err
}

func (r *ring) do(ctx context.Context, c drivers.Command) (drivers.Status, error) {
	before := r.shown()
	next, err := before.after(c)
	if err != nil {
		return drivers.Status{}, err
	}
	if err := r.move.stop(ctx); err != nil {
		return drivers.Status{}, err
	}
	r.show(next)
	if err := r.paint(0); err != nil {
		r.show(before) // or the next poll would carry out what has failed
		return drivers.Status{}, err
	}
	if next.every() > 0 {
		r.move.start(r.animate)
	}
	return r.status(), nil
}

func (r *ring) shown() look {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.look
}

func (r *ring) show(l look) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.look = l
}

// animate paints the pictures of a moving look until ctx ends.
func (r *ring) animate(ctx context.Context) {
	start := time.Now()
	wait := r.shown().every()
	for pause(ctx, wait) {
		for r.paint(time.Since(start)) != nil {
			if !pause(ctx, retryRing) {
				return
			}
		}
	}
}

// paint sends the picture at a time since the pattern began.
func (r *ring) paint(t time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = r.port.Tx(r.kind.frame(r.look.picture(r.leds, t)), nil)
	if r.err != nil {
		r.err = fmt.Errorf("%s: %w", r.title(), r.err)
	}
	return r.err
}

func (r *ring) title() string { return "ring " + r.name }

// poll paints again, unless the ring moves and is painted all the time: the
// LEDs say nothing, but a port that is gone fails.
func (r *ring) poll(context.Context) drivers.Status {
	if r.shown().every() == 0 {
		_ = r.paint(0) // told by the status
	} else if !r.move.playing() {
		r.move.start(r.animate) // a command failed half way
	}
	return r.status()
}

func (r *ring) status() drivers.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return drivers.Status{Err: r.err}
	}
	return drivers.Status{
		Value:      drivers.OnOff(r.look.on),
		ObservedAt: time.Now(),
		Source:     drivers.SourceCommand,
		Details: map[string]any{
			"color":      r.look.color.String(),
			"brightness": r.look.brightness,
			"pattern":    r.look.pattern,
		},
	}
}

func (r *ring) close() error {
	err := r.move.end()
	r.show(look{})
	if e := r.paint(0); err == nil {
		err = e
	}
	if e := r.port.Close(); err == nil {
		err = e
	}
	return err
}
