package sim

import (
	"context"
	"fmt"
	"time"

	"roomgate/drivers"
)

// maxLag bounds how far back edges are made up for when a listener was late;
// a kernel's event buffer overflows too.
const maxLag = time.Second

// line is a wire between the board and a part. Either the board drives it
// (driven is called) or the part does (signal says how).
type line struct {
	holder
	name   string
	world  *World
	faults *Faults
	driven func(high bool, now time.Time) // nil: the part does not listen
	signal signal                         // nil: nobody drives it
}

// signal is a level as a function of time.
type signal interface {
	at(t time.Time) bool
	// next is when the level changes by itself for the first time after t.
	next(t time.Time) (time.Time, bool)
}

// listen wires a line that the board drives.
func (w *World) listen(name string, f *Faults, driven func(high bool, now time.Time)) error {
	return place(w, w.lines, name, &line{name: name, world: w, faults: f, driven: driven})
}

// drive wires a line that the part drives. The part rings f when the signal
// changes other than by time.
func (w *World) drive(name string, f *Faults, s signal) error {
	return place(w, w.lines, name, &line{name: name, world: w, faults: f, signal: s})
}

// Output takes a line and drives it to initial in the same step.
func (w *World) Output(name string, initial bool) (drivers.Output, error) {
	l, err := find(w, w.lines, name)
	if err != nil {
		return nil, err
	}
	if err := l.take(name); err != nil {
		return nil, err
	}
	o := &output{grip: newGrip(&l.holder), line: l}
	if err := o.Set(initial); err != nil {
		_ = o.Close()
		return nil, err
	}
	return o, nil
}

type output struct {
	grip
	line *line
}

func (o *output) Set(high bool) error {
	l := o.line
	if err := l.faults.clean(l.name, o.closed); err != nil {
		return err
	}
	l.world.record(l.name, level(high))
	if l.driven != nil {
		l.driven(high, time.Now())
	}
	return nil
}

func level(high bool) float64 {
	if high {
		return 1
	}
	return 0
}

// Input takes a line for reading. A line that no part drives follows pull.
func (w *World) Input(name string, pull drivers.Pull) (drivers.Input, error) {
	l, err := find(w, w.lines, name)
	if err != nil {
		return nil, err
	}
	if err := l.take(name); err != nil {
		return nil, err
	}
	in := &input{grip: newGrip(&l.holder), line: l, signal: l.signal}
	if in.signal == nil {
		in.signal = steady(pull == drivers.PullUp)
	}
	return in, nil
}

// steady is a signal that never changes.
type steady bool

func (s steady) at(time.Time) bool                  { return bool(s) }
func (steady) next(time.Time) (_ time.Time, _ bool) { return time.Time{}, false }

type input struct {
	grip
	line      *line
	signal    signal
	listening holder
}

func (in *input) Read() (bool, error) {
	if err := in.line.faults.clean(in.line.name, in.closed); err != nil {
		return false, err
	}
	return in.signal.at(time.Now()), nil
}

func (in *input) Edges(ctx context.Context, f func(drivers.Edge)) error {
	if err := in.listening.take(in.line.name); err != nil {
		return err
	}
	defer in.listening.give()
	e := edges{signal: in.signal, report: f, cursor: time.Now()}
	e.last = in.signal.at(e.cursor)
	for {
		bell := in.line.faults.wait()
		if err := in.listenable(ctx); err != nil {
			return err
		}
		var alarm <-chan time.Time
		if !in.line.faults.isStuck() {
			alarm = e.advance(time.Now())
		}
		select {
		case <-bell:
		case <-alarm:
		case <-ctx.Done():
		case <-in.closed:
		case <-in.line.world.done:
		}
	}
}

// listenable says why Edges must end, if it must.
func (in *input) listenable(ctx context.Context) error {
	l := in.line
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case isDone(in.closed) || isDone(l.world.done):
		return fmt.Errorf("%s: %w", l.name, drivers.ErrClosed)
	case l.faults.isUnplugged():
		return unplugged(l.name)
	case l.faults.isGarbled():
		return disturbed(l.name)
	}
	return nil
}

// edges turns a signal into its changes, each with the moment at which it
// happened however late the listener is.
type edges struct {
	signal signal
	report func(drivers.Edge)
	cursor time.Time // reported up to here
	last   bool
}

// advance reports what happened until now, and returns when to look again.
func (e *edges) advance(now time.Time) <-chan time.Time {
	if now.Sub(e.cursor) > maxLag {
		e.cursor = now.Add(-maxLag)
	}
	for {
		at, ok := e.signal.next(e.cursor)
		if !ok || at.After(now) {
			break
		}
		e.see(at)
	}
	e.see(now)
	if at, ok := e.signal.next(now); ok {
		return time.After(at.Sub(now))
	}
	return nil
}

func (e *edges) see(at time.Time) {
	if high := e.signal.at(at); high != e.last {
		e.last = high
		e.report(drivers.Edge{High: high, At: at})
	}
	e.cursor = at
}
