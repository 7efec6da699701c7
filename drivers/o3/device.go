package o3

import (
	"context"
	"fmt"
	"sync"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// closeTime bounds how long Close tries to reach the hub.
const closeTime = time.Second

// Device is one hub.
type Device struct {
	opts Options
	said *readings
	link *link

	stop    context.CancelFunc
	stopped chan struct{}
	close   sync.Once

	color color // what "on" shows: the last color ordered
}

var (
	_ drivers.Driver  = (*Device)(nil)
	_ drivers.Watcher = (*Device)(nil)
)

func open(o Options, b drivers.Buses) *Device {
	said := newReadings(o.Silence, o.Temperature, o.Occupancy,
		ringPattern, ringRed, ringGreen, ringBlue, ringOverride, ringBrightness, soundFile,
		occupantHumidity, lightLevel, soundLevel)
	ctx, stop := context.WithCancel(context.Background())
	d := &Device{
		opts: o, said: said, link: newLink(o, b, said),
		stop: stop, stopped: make(chan struct{}), color: white,
	}
	go func() {
		defer close(d.stopped)
		d.link.session.Run(ctx)
	}()
	return d
}

// Close darkens and silences the hub, if it can be reached, and says goodbye.
func (d *Device) Close() error {
	d.close.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if todo := d.calm(); len(todo) > 0 {
			// The hub may be gone, and nobody is left to be told of it.
			_ = d.carryOut(ctx, todo, func(time.Time) error { return nil })
		}
		d.stop()
	})
	<-d.stopped
	return nil
}

// calm is what brings the hub into its safe state.
func (d *Device) calm() []order {
	d.said.mu.Lock()
	defer d.said.mu.Unlock()
	var todo []order
	if s := d.sub(drivers.SubBuzzer); s.Value == drivers.On {
		todo = append(todo, d.buzzerOrders(drivers.Command{Action: drivers.ActOff})...)
	}
	if s := d.sub(drivers.SubRing); s.Value == drivers.On {
		todo = append(todo, d.ringOrders(drivers.Command{Action: drivers.ActOff})...)
	}
	return todo
}

// Poll returns what the hub has reported. It waits only for the first
// connection and for the first reports on a new one, at most Timeout for each.
func (d *Device) Poll(ctx context.Context) ([]drivers.Status, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*d.opts.Timeout)
	defer cancel()
	for {
		wait, wake := d.settling()
		if wait <= 0 || !session.Until(ctx, wake, wait) {
			return d.statuses()
		}
	}
}

// settling says how much longer a first connection or first reports are worth
// waiting for, and what tells of news.
func (d *Device) settling() (wait time.Duration, wake <-chan struct{}) {
	d.said.mu.Lock()
	defer d.said.mu.Unlock()
	switch {
	case !d.said.tried:
		return d.opts.Timeout, d.said.wake
	case !d.said.up:
		return 0, nil
	}
	for _, sub := range drivers.SubDevices(drivers.TypeO3) {
		if d.sub(sub).Err != nil {
			return d.opts.Timeout - time.Since(d.said.upAt), d.said.wake
		}
	}
	return 0, nil
}

// Do gives the orders of a command and waits for the reports that prove it.
func (d *Device) Do(ctx context.Context, c drivers.Command) (drivers.Status, error) {
	todo := d.orders(c)
	if todo == nil {
		return drivers.Status{}, drivers.ErrUnsupported
	}
	if err := ctx.Err(); err != nil {
		return drivers.Status{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.opts.Timeout)
	defer cancel()
	var s drivers.Status
	if err := d.carryOut(ctx, todo, d.proof(c, &s)); err != nil {
		return drivers.Status{}, fmt.Errorf("%s %s: %w", c.Sub, c.Action, err)
	}
	d.remember(c)
	return s, nil
}

func (d *Device) orders(c drivers.Command) []order {
	switch c.Sub {
	case drivers.SubBuzzer:
		return d.buzzerOrders(c)
	case drivers.SubRing:
		return d.ringOrders(c)
	}
	return nil
}

// carryOut gives orders, and returns when they were reported back and nothing
// that was said since speaks against them.
func (d *Device) carryOut(ctx context.Context, todo []order, unproven func(at time.Time) error) error {
	es := expectations(todo)
	if err := d.said.expect(es); err != nil {
		return err
	}
	defer d.said.forget(es)
	if err := d.link.send(ctx, todo); err != nil {
		return err
	}
	for {
		why, wake, lost := d.said.progress(es, unproven)
		switch {
		case why == nil:
			return nil
		case lost != nil:
			return fmt.Errorf("%w, and the connection is lost", why)
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return why
		}
	}
}

// proof judges a command by what the reports show, which it keeps in s. It is
// called with the readings locked, so that nothing comes between.
func (d *Device) proof(c drivers.Command, s *drivers.Status) func(at time.Time) error {
	return func(at time.Time) error {
		*s = d.evidence(c, at)
		return drivers.Unproven(drivers.TypeO3, c, *s)
	}
}

// remember keeps a color for the next "on".
func (d *Device) remember(c drivers.Command) {
	if c.Sub != drivers.SubRing || c.Action != drivers.ActColor {
		return
	}
	if rgb, err := parseColor(c.Args.Text(drivers.ValueName)); err == nil && rgb != (color{}) {
		d.color = rgb
	}
}

// evidence is the state that the reports show, as of the last report that the
// order has led to: what stayed as it was is older. A beep may have ended by
// now: that it was reported is what counts.
func (d *Device) evidence(c drivers.Command, at time.Time) drivers.Status {
	s := d.sub(c.Sub)
	if c.Action == drivers.ActBeep {
		s.Value, s.Err = drivers.On, nil
	}
	if at.After(s.ObservedAt) {
		s.ObservedAt = at
	}
	return s
}

// Watch asks for a poll whenever a value changes, or the hub comes or goes.
func (d *Device) Watch(ctx context.Context, report func(drivers.Event)) error {
	return session.Watch(ctx, d.stopped, d.look, report)
}

// look is everything that matters in one text.
func (d *Device) look() (now string, wake <-chan struct{}) {
	d.said.mu.Lock()
	defer d.said.mu.Unlock()
	now = fmt.Sprint("up ", d.said.up)
	for _, name := range drivers.SubDevices(drivers.TypeO3) {
		s := d.sub(name)
		now += fmt.Sprint("|", s.Value, s.Details, s.Err != nil)
	}
	return now, d.said.wake
}
