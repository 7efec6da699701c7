package device

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/patch"
	"roomgate/agent/problem"
	"roomgate/store"
)

// Settings are what of a device's configuration may be set at run time;
// nil is as configured.
type Settings struct {
	Enabled         *bool          `json:"enabled,omitempty"`
	Poll            *time.Duration `json:"poll,omitempty"` // 50 ms to 1 h
	AlertLow        *float64       `json:"alert_low,omitempty"`
	AlertHigh       *float64       `json:"alert_high,omitempty"` // both from -40 to 85 °C
	AlertHysteresis *float64       `json:"alert_hysteresis,omitempty"`
	// Permissions bound who may give which command.
	Permissions *[]Permission `json:"permissions,omitempty"`
}

// over lays what was set over the configuration.
func (v Settings) over(c config.Device) config.Device {
	patch.Set(&c.Enabled, v.Enabled)
	patch.Set(&c.Poll, v.Poll)
	patch.Set(&c.Alert.Low, v.AlertLow)
	patch.Set(&c.Alert.High, v.AlertHigh)
	patch.Set(&c.Alert.Hysteresis, v.AlertHysteresis)
	return c
}

// and is v with what w sets.
func (v Settings) and(w Settings) Settings {
	patch.Keep(&v.Enabled, w.Enabled)
	patch.Keep(&v.Poll, w.Poll)
	patch.Keep(&v.AlertLow, w.AlertLow)
	patch.Keep(&v.AlertHigh, w.AlertHigh)
	patch.Keep(&v.AlertHysteresis, w.AlertHysteresis)
	patch.Keep(&v.Permissions, w.Permissions)
	return v
}

// check refuses what no device can be run with, as the configuration does.
func (v Settings) check(c config.Device) error {
	c = v.over(c)
	low, high := c.Alert.Low, c.Alert.High
	within := func(x, from, to float64) bool { return x >= from && x <= to } // no NaN is
	switch {
	case c.Poll < 50*time.Millisecond || c.Poll > time.Hour:
		return problem.New(problem.Invalid, "poll", "is out of range: want %v to %v", problem.Span(50*time.Millisecond), problem.Span(time.Hour))
	case !within(low, -40, 85):
		return problem.New(problem.Invalid, "alert.low", "is out of range: want -40 to 85 °C")
	case !within(high, low, 85):
		return problem.New(problem.Invalid, "alert.high", "is out of range: want the lower limit, %v, to 85 °C", low)
	case !within(c.Alert.Hysteresis, 0, (high-low)/2):
		return problem.New(problem.Invalid, "alert.hysteresis", "is out of range: want 0 to half of the range, %v °C", (high-low)/2)
	}
	return nil
}

// Terms are how a device is set now: its configuration with what was set over it.
// They are replaced as a whole, never changed.
type Terms struct {
	config.Device
	Set Settings
}

// Live is how the device is set now.
func (d *Device) Live() *Terms { return d.terms.Load() }

// disabledReason is why a disabled device is offline.
const disabledReason = "disabled"

// Permissions bound who may give which command; nil: everybody may.
func (t *Terms) Permissions() []Permission {
	if t.Set.Permissions == nil {
		return nil
	}
	return *t.Set.Permissions
}

// Change stores what is changed of the device over its configuration, with who
// did it, and lets it take effect. With reset it is as configured before the
// change. A device that is disabled is closed, which leaves its hardware in its
// safe state. The caller sees to it that there is one change at a time.
func (d *Device) Change(ctx context.Context, change Settings, reset bool, by string) error {
	set := d.Live().Set.and(change)
	if reset {
		set = change
	}
	if err := set.check(d.Device); err != nil {
		return err
	}
	if change.Permissions != nil {
		if err := d.CheckPermissions(*change.Permissions); err != nil {
			return err
		}
	}
	return d.events.Commit(ctx, d.Stage(set, by))
}

// Stage is a change to what is set of the device, which was checked. There must
// be no other before it is shown.
func (d *Device) Stage(set Settings, by string) eventlog.Stage {
	was, now := d.Live(), &Terms{set.over(d.Device), set}
	return eventlog.Stage{
		Write: func(tx *store.Tx) error { return d.storeSettings(tx, was, now, by) },
		Show:  func() { d.turn(was, now) },
	}
}

func (d *Device) storeSettings(tx *store.Tx, was, now *Terms, by string) error {
	if now.Set == (Settings{}) {
		if err := settings.Delete(tx, d.ID); err != nil {
			return err
		}
	} else if err := settings.Put(tx, d.ID, now.Set); err != nil {
		return err
	}
	kind := EventChanged // what it reports, who may command it
	switch {
	case was.Enabled && !now.Enabled:
		kind = eventDisabled
	case now.Enabled && !was.Enabled:
		kind = eventEnabled
	case reflect.DeepEqual(was.Set, now.Set):
		return nil
	}
	return d.events.Push(tx, d.Event(kind, "", time.Now(), map[string]any{"by": by}))
}

// turn lets the device's loop, and whoever reads of it, know its new settings.
func (d *Device) turn(was, now *Terms) {
	d.showing.Lock()
	if now.Enabled && !was.Enabled {
		d.moved.Store(time.Now().UnixNano()) // it was not stuck, it rested
		d.known.Store(d.known.Load().because("not observed since it was enabled"))
	}
	d.terms.Store(now)
	if !now.Enabled {
		d.known.Store(d.known.Load().because(disabledReason))
	}
	d.showing.Unlock()
	d.turned.Wake()
	if was.Enabled != now.Enabled {
		d.changed()
	}
}

// show lets readers see a snapshot, unless the device is disabled: then what a
// call under way has still brought is shown as offline.
func (d *Device) show(s *snapshot) {
	d.showing.Lock()
	defer d.showing.Unlock()
	if !d.Live().Enabled {
		s = s.because(disabledReason)
	}
	d.known.Store(s)
}

// because is the same snapshot of a device that is offline for that reason.
func (s *snapshot) because(reason string) *snapshot {
	off := &snapshot{}
	for _, r := range s.readings {
		r.Status, r.Reason = Offline, reason
		off.readings = append(off.readings, encoded(r))
	}
	return off
}

// rest keeps a disabled device closed until its settings change. It is not
// observed, and commands that were in its lane already are refused.
func (d *Device) rest(ctx context.Context) {
	d.failing, d.pause = false, 0
	d.publish(d.view.rest())
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.turned:
			return
		case <-d.lane.woken:
			if p := d.lane.take(); p != nil {
				d.finish(p, nil, ErrDisabled())
			}
		}
	}
}

// rest forgets what was reported, so that it is all told again once the device
// is enabled: that it is there, what has changed, and an alert that still holds.
func (v *view) rest() eventlog.Change {
	var c eventlog.Change
	told := false
	for _, p := range v.parts {
		p.now.Status, p.now.Reason = Offline, disabledReason
		p.failures, p.observed, p.certain = 0, false, false
		if p.reported.Status != "" {
			p.reported.Status, told = "", true
		}
	}
	if told {
		v.keep(&c)
	}
	return c
}

// loadSettings reads what was set of a device. What a new version or a new
// configuration does not allow any more is left out.
func (d *Device) loadSettings(tx *store.Tx) error {
	set, err := settings.Get(tx, d.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := set.check(d.Device); err != nil {
		d.log.Error("settings made at run time do not fit the configuration and are left out", "error", err)
		return nil
	}
	text, _ := json.Marshal(set) // numbers only
	d.log.Info("the device has settings over its configuration", "settings", string(text))
	d.terms.Store(&Terms{set.over(d.Device), set})
	d.show(d.known.Load())
	return nil
}
