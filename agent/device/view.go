package device

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"strconv"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/drivers"
	"roomgate/store"
)

// temperatureStep is the least change of a temperature that is an event; the
// status shows every change.
const temperatureStep = 0.5

// view is what a device's loop makes of its observations: the state of the
// device and each sub-device, and what of it has been reported. It belongs to
// the loop.
type view struct {
	device *Device
	parts  []*part
	held   bool // a part has changed too often to be stored at once
}

// part is the device itself or one of its sub-devices.
type part struct {
	sub      string
	now      Reading
	failures int
	reported storedReading // what the last event said
	observed bool          // since the start
	certain  bool          // it is offline beyond doubt
	pace     eventlog.Pace // of what is stored of its values
	turns    eventlog.Pace // of what is stored of its status: an alarm does not wait for values
}

func newView(d *Device, stored []storedReading) *view {
	v := &view{device: d}
	for _, sub := range append([]string{""}, drivers.SubDevices(d.Type)...) {
		p := &part{sub: sub}
		name := sub
		if name == "" {
			name = d.Type
		}
		p.now = Reading{Record: Record{name, "", Offline}, DeviceID: d.ID, DeviceType: d.Type, SubDevice: sub}
		for _, s := range stored {
			if s.Sub == sub {
				p.reported = s
				p.now.Value, p.now.ObservedAt, p.now.Source, p.now.Details = s.Value, s.ObservedAt, s.Source, s.Details
			}
		}
		v.parts = append(v.parts, p)
	}
	return v
}

// offline says whether the whole device is.
func (v *view) offline() bool { return v.parts[0].now.Offline() }

// snapshot freezes the view for readers. From stale on, unless renewed, they
// see it as offline.
func (v *view) snapshot(stale time.Time, reason string) *snapshot {
	s := &snapshot{until: stale, stale: &snapshot{}}
	for _, p := range v.parts {
		r := p.now
		if reason != "" {
			r.Reason = reason
		}
		s.readings = append(s.readings, encoded(r))
		old := r
		old.Status, old.Reason = Offline, "not observed lately"
		s.stale.readings = append(s.stale.readings, encoded(old))
	}
	return s
}

func encoded(r Reading) Reading {
	r.plain, _ = json.Marshal(r.Record)
	r.wrapped = append(append([]byte(`{"response":`), r.plain...), '}')
	return r
}

// observe takes a successful poll, and returns what changed.
func (v *view) observe(statuses []drivers.Status) eventlog.Change {
	for _, p := range v.parts {
		status, found := pick(statuses, p.sub)
		switch {
		case found && status.Err == nil:
			p.take(v.device, status)
		case found:
			p.strike(status.Err)
		case p.sub == "": // a hub has no value of its own
			p.take(v.device, drivers.Status{ObservedAt: time.Now(), Source: "poll"})
		default:
			p.strike(errors.New("the device said nothing of it"))
		}
	}
	return v.changes(false)
}

// fail takes a failed poll.
func (v *view) fail(err error) eventlog.Change {
	for _, p := range v.parts {
		p.strike(err)
	}
	return v.changes(false)
}

// prove takes the read-back of a command.
func (v *view) prove(s drivers.Status) eventlog.Change {
	for _, p := range v.parts {
		if p.sub == s.Sub {
			p.take(v.device, s)
		}
	}
	return v.changes(true)
}

func pick(statuses []drivers.Status, sub string) (drivers.Status, bool) {
	for _, s := range statuses {
		if s.Sub == sub {
			return s, true
		}
	}
	return drivers.Status{}, false
}

// take accepts an observation, unless the device says what cannot be.
func (p *part) take(d *Device, s drivers.Status) {
	if err := drivers.Plausible(d.Type, p.sub, s.Value); err != nil {
		p.strike(err)
		return
	}
	p.failures, p.observed, p.certain = 0, true, false
	p.now.Value, p.now.ObservedAt, p.now.Source, p.now.Details = s.Value, s.ObservedAt, s.Source, s.Details
	p.now.Reason = ""
	if p.sub == drivers.SubTemperature {
		alert := d.Live().Alert
		p.now.Status = level(s.Value, p.now.Status, alert.Low, alert.High, alert.Hysteresis)
	} else {
		p.now.Status = Online
	}
}

// strike takes a failure. What the hardware says is believed at once; silence,
// and what may be a disturbance, is counted. One that was never seen to work is
// shown as offline before three, and told as offline only once that is certain.
func (p *part) strike(err error) {
	p.failures++
	p.certain = p.failures >= strikes || errors.Is(err, drivers.ErrOffline) || errors.Is(err, drivers.ErrNoValue)
	if p.certain || !p.observed {
		p.now.Status, p.now.Reason = Offline, firstLine(err)
	}
}

// level judges a temperature: an alert begins outside the range and ends once
// the value is back inside by the hysteresis.
func level(value, before string, low, high, hysteresis float64) string {
	t, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil:
		return Offline
	case t > high, before == High && t > high-hysteresis:
		return High
	case t < low, before == Low && t < low+hysteresis:
		return Low
	}
	return Normal
}

// changes compares the view with what was reported, part by part. Unless all is true, a part that
// changes too often is left for later.
func (v *view) changes(all bool) eventlog.Change {
	var c eventlog.Change
	v.held = false
	for _, p := range v.parts {
		events := p.events(v.device)
		if len(events) == 0 {
			continue
		}
		pace := &p.pace
		if p.reported.Status != p.now.Status {
			pace = &p.turns
		}
		if !pace.Allows(time.Now()) && !all {
			v.held = true
			continue
		}
		c.Rows = append(c.Rows, events...)
		p.reported = p.stored()
	}
	if len(c.Rows) > 0 {
		v.keep(&c)
	}
	return c
}

func (p *part) stored() storedReading {
	return storedReading{p.sub, p.now.Value, p.now.Status, p.now.ObservedAt, p.now.Source, maps.Clone(p.now.Details)}
}

// keep stores with a change what is reported by now.
func (v *view) keep(c *eventlog.Change) {
	id, all := v.device.ID, v.stored()
	c.Key, c.Latest = id, func(tx *store.Tx) error { return readings.Put(tx, id, all) }
}

func (v *view) stored() []storedReading {
	out := make([]storedReading, len(v.parts))
	for i, p := range v.parts {
		out[i] = p.reported
	}
	return out
}

// events are what is worth telling since the last report.
func (p *part) events(d *Device) []eventlog.Row {
	was, now := p.reported, p.now
	details := map[string]any{"value": now.Value, "status": now.Status}
	if now.Offline() {
		if was.Status == Offline || !p.certain {
			return nil
		}
		details["reason"] = now.Reason
		return []eventlog.Row{d.Event(EventOffline, p.sub, time.Now(), details)}
	}
	var rows []eventlog.Row
	if was.Status == "" || was.Status == Offline {
		rows = append(rows, d.Event(EventOnline, p.sub, now.ObservedAt, details))
	}
	if was.Value != "" && p.valueEvent() != "" {
		details["previous"] = was.Value
		rows = append(rows, d.Event(p.valueEvent(), p.sub, now.ObservedAt, details))
	}
	if was.Status != now.Status && (now.Status == High || now.Status == Low) {
		rows = append(rows, d.alert(EventTemperatureAlert, now))
	}
	if (was.Status == High || was.Status == Low) && now.Status == Normal {
		rows = append(rows, d.alert(EventTemperatureNormal, now))
	}
	return rows
}

// valueEvent names the event of a changed value, or is empty.
func (p *part) valueEvent() string {
	switch {
	case !p.moved():
		return ""
	case p.sub == drivers.SubOccupancy:
		return EventOccupancyChanged
	}
	return EventStatusChanged
}

// moved says whether the value, or a fact in words beside it, has changed
// enough to be told. Numbers beside the value, such as a fan's speed, change
// all the time and are only shown.
func (p *part) moved() bool {
	if p.sub != drivers.SubTemperature {
		return p.reported.Value != p.now.Value || !maps.Equal(words(p.reported.Details), words(p.now.Details))
	}
	was, err1 := strconv.ParseFloat(p.reported.Value, 64)
	now, err2 := strconv.ParseFloat(p.now.Value, 64)
	return err1 != nil || err2 != nil || math.Abs(now-was) >= temperatureStep
}

func words(details map[string]any) map[string]string {
	out := map[string]string{}
	for name, v := range details {
		if s, ok := v.(string); ok {
			out[name] = s
		}
	}
	return out
}
