//go:build lab

package lab

import (
	"context"
	"slices"
	"time"

	"roomgate/drivers"
)

// lag is how much later than in the world a wire moves on the board. Edges of
// several wires come from as many goroutines; the lag lets them be put into
// their order, and keeps their distance.
const lag = 20 * time.Millisecond

// move is a wire that takes a level: 0, 1, or e for one that cannot be read.
type move struct {
	at    time.Time
	name  string
	level string
}

// drive hands on the levels that a part gives a wire. A part that is taken
// away or disturbed leaves a line that cannot be read.
func (o *outside) drive(ctx context.Context, name string, in drivers.Input) {
	for ctx.Err() == nil {
		if !o.look(name, in) {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		// A change between that look and the first edge would be lost.
		again := time.AfterFunc(lag, func() { o.look(name, in) })
		_ = in.Edges(ctx, func(e drivers.Edge) {
			again.Stop()
			o.moves <- move{e.At, name, bit(e.High)}
		})
		again.Stop()
	}
}

// look hands on the level now. It is false if there is none.
func (o *outside) look(name string, in drivers.Input) bool {
	high, err := in.Read()
	level := bit(high)
	if err != nil {
		level = "e"
	}
	o.moves <- move{time.Now(), name, level}
	return err == nil
}

func bit(high bool) string {
	if high {
		return "1"
	}
	return "0"
}

// wires moves the wires, each a lag after its time, until ctx ends.
func (o *outside) wires(ctx context.Context) {
	var waiting []move // by time
	timer := time.NewTimer(time.Hour)
	for {
		if len(waiting) > 0 {
			timer.Reset(time.Until(waiting[0].at.Add(lag)))
		}
		select {
		case m := <-o.moves:
			at := slices.IndexFunc(waiting, func(other move) bool { return other.at.After(m.at) })
			if at < 0 {
				at = len(waiting)
			}
			waiting = slices.Insert(waiting, at, m)
		case <-timer.C:
			_ = o.tell("wire " + waiting[0].name + " " + waiting[0].level)
			waiting = waiting[1:]
		case <-ctx.Done():
			return
		}
	}
}
