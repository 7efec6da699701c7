package fan

import (
	"context"
	"fmt"
	"time"

	"roomgate/drivers"
)

const (
	// window is how long the pulses are counted for one speed.
	window = 250 * time.Millisecond
	// enough pulses end the counting early; even, so that unevenly spaced
	// magnets of a turn cancel out.
	enough = 17
	// glitch is closer than two pulses of any fan: the control wire couples
	// its 25 kHz into the tachometer's.
	glitch = 500 * time.Microsecond
)

// tach is the tachometer line of a fan.
type tach struct {
	line   drivers.Input
	name   string
	pulses int // per turn
}

// measure returns the speed in turns per minute, 0 if it stands or is too slow
// to tell.
func (t *tach) measure(ctx context.Context) (float64, error) {
	counting, cancel := context.WithTimeout(ctx, window)
	defer cancel()
	var rises []time.Time
	err := t.line.Edges(counting, func(e drivers.Edge) {
		if !e.High || len(rises) == enough {
			return
		}
		if n := len(rises); n > 0 && e.At.Sub(rises[n-1]) < glitch {
			return
		}
		if rises = append(rises, e.At); len(rises) == enough {
			cancel()
		}
	})
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case counting.Err() == nil:
		return 0, fmt.Errorf("tachometer %s: %w", t.name, err)
	}
	return t.speed(rises), nil
}

// speed is from the first pulse to the last, which is exact where a count in
// the window is off by one pulse.
func (t *tach) speed(rises []time.Time) float64 {
	if len(rises) < 2 {
		return 0
	}
	took := rises[len(rises)-1].Sub(rises[0])
	turns := float64(len(rises)-1) / float64(t.pulses)
	return turns / took.Minutes()
}
