package device

import (
	"context"
	"math/rand/v2"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/drivers"
)

// turnAway refuses what waits for a device that was removed.
func (d *Device) turnAway() {
	for p := d.lane.take(); p != nil; p = d.lane.take() {
		d.finish(p, nil, problem.New(problem.NotFound, "device_type", "was removed from this meeting space"))
	}
}

// idle waits, refusing the commands that come meanwhile.
func (d *Device) idle(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		d.moved.Store(time.Now().UnixNano())
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-d.turned:
			return
		case <-d.lane.woken:
			if p := d.lane.take(); p != nil {
				d.finish(p, nil, problem.New(problem.Unavailable, "", "device is not opened: %s", d.known.Load().readings[0].Reason))
			}
		}
	}
}

// serve polls, obeys and listens until ctx ends or the device is disabled.
func (d *Device) serve(ctx context.Context, driver drivers.Driver) {
	ctx, stop := context.WithCancel(ctx)
	watched := d.watch(ctx, driver)
	defer func() { stop(); d.leave(watched); d.recordAll() }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		d.moved.Store(time.Now().UnixNano())
		select {
		case <-ctx.Done():
		case <-d.turned:
			if !d.Live().Enabled {
				return
			}
			timer.Reset(0)
		case <-d.lane.woken:
			if p := d.lane.take(); p != nil {
				d.obey(ctx, driver, p)
			}
		case <-d.kick:
			timer.Reset(d.poll(ctx, driver))
		case <-timer.C:
			timer.Reset(d.poll(ctx, driver))
		}
	}
}

// leave waits for the watch to end, but not for ever: a stuck line must not keep
// the building from stopping.
func (d *Device) leave(watched <-chan struct{}) {
	late := time.NewTimer(d.Timeout + callGrace)
	defer late.Stop()
	select {
	case <-watched:
	case <-late.C:
		d.log.Warn("device is left while it still watches")
	}
}

// poll observes once and returns the time until the next observation: soon, if something waits to be stored.
func (d *Device) poll(ctx context.Context, driver drivers.Driver) time.Duration {
	pause := d.observe(ctx, driver)
	if d.view.held || d.alarms.Waiting() {
		return min(pause, eventlog.StoredEvery)
	}
	return pause
}

// observe observes once and returns the usual time until the next observation.
func (d *Device) observe(ctx context.Context, driver drivers.Driver) time.Duration {
	statuses, err := call(ctx, d, d.Timeout, driver.Poll)
	if ctx.Err() != nil {
		return d.Live().Poll
	}
	if err != nil {
		d.lost(err)
		if d.view.offline() {
			return d.backOff()
		}
		return d.Live().Poll
	}
	d.pause = 0
	if d.failing {
		d.failing = false
		d.log.Info("device answers again")
	}
	d.publish(d.view.observe(statuses))
	return d.Live().Poll
}

// lost counts a failed try.
func (d *Device) lost(err error) {
	if !d.failing {
		d.failing = true
		d.log.Warn("device does not answer", "error", err)
	}
	d.publish(d.view.fail(err))
}

// publish shows the new view to readers, and hands what changed to the log.
func (d *Device) publish(c eventlog.Change) {
	fresh := time.Now().Add(strikes*(d.Live().Poll+d.Timeout) + commandTimeout)
	d.show(d.view.snapshot(fresh, ""))
	d.seen.Store(true)
	if c.Any() || d.view.held {
		d.changed()
	}
	d.record(c)
	d.record(d.alarms.Due(false))
}

// record hands what is to be stored to the log.
func (d *Device) record(c eventlog.Change) {
	if c.Any() {
		d.events.Add(c)
	}
}

// recordAll stores what waits because it has changed too often.
func (d *Device) recordAll() {
	d.record(d.view.changes(true))
	d.record(d.alarms.Due(true))
}

// backOff doubles the pause between tries, with jitter so that a building
// after a power cut does not knock at every device in step.
func (d *Device) backOff() time.Duration {
	d.pause = min(max(2*d.pause, d.Live().Poll), maxPause)
	return d.pause/2 + rand.N(d.pause/2+1)
}

// watch runs the driver's own reports beside the loop. The channel is closed
// when it has ended.
func (d *Device) watch(ctx context.Context, driver drivers.Driver) <-chan struct{} {
	ended := make(chan struct{})
	watcher, ok := driver.(drivers.Watcher)
	if !ok {
		close(ended)
		return ended
	}
	go func() {
		defer close(ended)
		for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, maxPause) {
			if err := guard(func() error { return watcher.Watch(ctx, d.report) }); err != nil && ctx.Err() == nil {
				d.log.Debug("watching ended, trying again", "error", err)
			}
			loop.Sleep(ctx, pause)
		}
	}()
	return ended
}

// report takes what the hardware says by itself.
func (d *Device) report(e drivers.Event) {
	if !d.Live().Enabled {
		return
	}
	if e.Type == drivers.EventCodeEntered && e.Code != "" && d.entered(e.Code) {
		return
	}
	if e.Type != drivers.EventChanged {
		d.record(d.alarms.Take(e.Type+" "+e.Sub, d.Event(e.Type, e.Sub, e.Time, e.Details)))
	}
	d.kick.Wake()
}

func (d *Device) close(driver drivers.Driver) {
	ctx, cancel := context.WithTimeout(context.Background(), d.Timeout)
	defer cancel()
	_, err := call(ctx, d, d.Timeout, func(context.Context) (struct{}, error) { return struct{}{}, driver.Close() })
	if err != nil {
		d.log.Warn("device could not be closed", "error", err)
	}
}
