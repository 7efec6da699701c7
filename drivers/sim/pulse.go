package sim

import (
	"context"

	"roomgate/drivers"
)

// Pulses takes a line for the beginnings of short lows.
func (w *World) Pulses(name string, pull drivers.Pull) (drivers.Input, error) {
	in, err := w.Input(name, pull)
	if err != nil {
		return nil, err
	}
	return pulses{in}, nil
}

// pulses are the falling edges of a line.
type pulses struct{ drivers.Input }

// Edges reports the falling edges.
func (p pulses) Edges(ctx context.Context, f func(drivers.Edge)) error {
	return p.Input.Edges(ctx, func(e drivers.Edge) {
		if !e.High {
			f(e)
		}
	})
}
