package agent

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/store"
)

// DeviceSettings is what of a device's configuration may be set at run time;
// nil is as configured.
type DeviceSettings struct {
	Enabled         *bool          `json:"enabled,omitempty"`
	Poll            *time.Duration `json:"poll,omitempty"` // 50 ms to 1 h
	AlertLow        *float64       `json:"alert_low,omitempty"`
	AlertHigh       *float64       `json:"alert_high,omitempty"` // both from -40 to 85 °C
	AlertHysteresis *float64       `json:"alert_hysteresis,omitempty"`
	// Permissions bound who may give which order.
	Permissions *[]DevicePermission `json:"permissions,omitempty"`
}

// over lays what was set over the configuration.
func (v DeviceSettings) over(c config.Device) config.Device {
	lay(&c.Enabled, v.Enabled)
	lay(&c.Poll, v.Poll)
	lay(&c.Alert.Low, v.AlertLow)
	lay(&c.Alert.High, v.AlertHigh)
	lay(&c.Alert.Hysteresis, v.AlertHysteresis)
	return c
}

// and is v with what w sets.
func (v DeviceSettings) and(w DeviceSettings) DeviceSettings {
	keep(&v.Enabled, w.Enabled)
	keep(&v.Poll, w.Poll)
	keep(&v.AlertLow, w.AlertLow)
	keep(&v.AlertHigh, w.AlertHigh)
	keep(&v.AlertHysteresis, w.AlertHysteresis)
	keep(&v.Permissions, w.Permissions)
	return v
}

// check refuses what no device can be run with, as the configuration does.
func (v DeviceSettings) check(c config.Device) error {
	c = v.over(c)
	low, high := c.Alert.Low, c.Alert.High
	within := func(x, from, to float64) bool { return x >= from && x <= to } // no NaN is
	switch {
	case c.Poll < 50*time.Millisecond || c.Poll > time.Hour:
		return refuse(Invalid, "poll", "is out of range: want 50ms to 1h")
	case !within(low, -40, 85):
		return refuse(Invalid, "alert.low", "is out of range: want -40 to 85 °C")
	case !within(high, low, 85):
		return refuse(Invalid, "alert.high", "is out of range: want the lower limit, %v, to 85 °C", low)
	case !within(c.Alert.Hysteresis, 0, (high-low)/2):
		return refuse(Invalid, "alert.hysteresis", "is out of range: want 0 to half of the range, %v °C", (high-low)/2)
	}
	return nil
}

// deviceTerms are a device's settings as they hold now. They are replaced as a
// whole.
type deviceTerms struct {
	config.Device
	set DeviceSettings
}

// live is how the device is set now.
func (d *device) live() *deviceTerms { return d.terms.Load() }

// errDisabled refuses an order to a device that is not used.
func errDisabled() *Error {
	return refuse(NotNow, "", "the device is disabled: enable it first")
}

// disabledReason is why a disabled device is offline.
const disabledReason = "disabled"

// SetDevice stores what is changed of a device over its configuration, with
// who did it, and lets it take effect. With reset it is as configured before
// the change. A device that is disabled is closed, which leaves its hardware
// in its safe state.
func (a *Agent) SetDevice(ctx context.Context, id string, change DeviceSettings, reset bool, by string) (DeviceInfo, error) {
	if err := a.builders.Lock(ctx); err != nil {
		return DeviceInfo{}, err
	}
	defer a.builders.Unlock()
	d, err := a.deviceByID(id)
	if err != nil {
		return DeviceInfo{}, err
	}
	was := d.live()
	set := was.set.and(change)
	if reset {
		set = change
	}
	if err := set.check(d.Device); err != nil {
		return DeviceInfo{}, err
	}
	if change.Permissions != nil {
		if err := checkPermissions(d, *change.Permissions); err != nil {
			return DeviceInfo{}, err
		}
	}
	now := &deviceTerms{set.over(d.Device), set}
	if err := a.db.Update(ctx, func(tx *store.Tx) error { return a.storeSettings(tx, d, was, now, by) }); err != nil {
		return DeviceInfo{}, err
	}
	d.turn(was, now)
	return a.infoOf(d), nil
}

func (a *Agent) storeSettings(tx *store.Tx, d *device, was, now *deviceTerms, by string) error {
	if now.set == (DeviceSettings{}) {
		if err := deviceSettings.Delete(tx, d.ID); err != nil {
			return err
		}
	} else if err := deviceSettings.Put(tx, d.ID, now.set); err != nil {
		return err
	}
	if was.Enabled == now.Enabled {
		return nil
	}
	kind := "deviceDisabled"
	if now.Enabled {
		kind = "deviceEnabled"
	}
	return a.Events.Push(tx, d.event(kind, "", time.Now(), map[string]any{"by": by}))
}

// turn lets the device's loop, and whoever reads of it, know its new settings.
func (d *device) turn(was, now *deviceTerms) {
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
		d.agent.Events.Grow()
		d.space.changed()
	}
}

// show lets readers see a snapshot, unless the device is disabled: then what a
// call under way has still brought is shown as offline.
func (d *device) show(s *snapshot) {
	d.showing.Lock()
	defer d.showing.Unlock()
	if !d.live().Enabled {
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
// observed, and orders that were in its lane already are refused.
func (d *device) rest(ctx context.Context) {
	d.failing, d.pause = false, 0
	d.publish(d.view.rest())
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.turned:
			return
		case o := <-d.lane:
			d.finish(o, nil, errDisabled())
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

// infoOf is a device with the name of its space.
func (a *Agent) infoOf(d *device) DeviceInfo {
	name := ""
	if s := a.find(d.spaceID); s != nil {
		name = s.Name
	}
	return d.info(name)
}

// deviceByID returns a device of the building, or a refusal.
func (a *Agent) deviceByID(id string) (*device, error) {
	if d := a.site.Load().device(id); d != nil {
		return d, nil
	}
	return nil, refuse(NotFound, "device_id", "is not a device of this building")
}

// loadSettings reads what was set of a device. What a new version or a new
// configuration does not allow any more is left out.
func (d *device) loadSettings(tx *store.Tx) error {
	set, err := deviceSettings.Get(tx, d.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := set.check(d.Device); err != nil {
		d.log.Error("what was set at run time does not fit the configuration and is left out", "error", err)
		return nil
	}
	text, _ := json.Marshal(set) // numbers only
	d.log.Info("the device has settings over its configuration", "settings", string(text))
	d.terms.Store(&deviceTerms{set.over(d.Device), set})
	d.show(d.known.Load())
	return nil
}
