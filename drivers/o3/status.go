package o3

import (
	"cmp"
	"fmt"
	"time"

	"roomgate/drivers"
)

// statuses is the hub itself and its sub-devices, as far as they are known. It
// fails if the hub is offline, or has said nothing that can be used.
func (d *Device) statuses() ([]drivers.Status, error) {
	d.said.mu.Lock()
	defer d.said.mu.Unlock()
	if err := d.said.offline(); err != nil {
		return nil, err
	}
	all := []drivers.Status{d.hub()}
	var unknown []error
	for _, sub := range drivers.SubDevices(drivers.TypeO3) {
		s := d.sub(sub)
		if s.Err != nil {
			unknown = append(unknown, s.Err)
		}
		all = append(all, s)
	}
	if len(unknown) == len(all)-1 {
		return nil, fmt.Errorf("hub is connected and has reported nothing usable: %w", unknown[0])
	}
	return all, nil
}

// hub is the device itself; the platform gives it no value. What else the hub
// measures is in the details.
func (d *Device) hub() drivers.Status {
	details := map[string]any{}
	for name, sub := range map[string]string{
		"humidity": occupantHumidity, "light_level": lightLevel, "sound_level": soundLevel,
	} {
		if v, err := d.said.get(sub, d.opts.Stale.Temperature); err == nil && !v.isText {
			details[name] = v.number
		}
	}
	if len(details) == 0 {
		details = nil
	}
	return drivers.Status{ObservedAt: d.said.heard, Source: sourceReport, Details: details}
}

const sourceReport = "report"

// sub observes one sub-device. The caller holds the readings' lock.
func (d *Device) sub(name string) drivers.Status {
	s := drivers.Status{Sub: name, Source: sourceReport}
	var at time.Time
	var err error
	switch name {
	case drivers.SubTemperature:
		s.Value, at, err = d.temperature()
	case drivers.SubOccupancy:
		s.Value, at, err = d.occupancy()
	case drivers.SubBuzzer:
		s.Value, s.Details, at, err = d.buzzer()
	case drivers.SubRing:
		s.Value, s.Details, at, err = d.ring()
	default:
		err = drivers.ErrUnsupported
	}
	if err != nil {
		return drivers.Status{Sub: name, Source: sourceReport, ObservedAt: time.Now(), Err: err}
	}
	s.ObservedAt = at
	return s
}

func (d *Device) temperature() (value string, at time.Time, err error) {
	v, err := d.said.get(d.opts.Temperature, d.opts.Stale.Temperature)
	if err != nil {
		return "", at, err
	}
	value, err = v.celsius()
	return value, v.at, about(d.opts.Temperature, err)
}

func (d *Device) occupancy() (value string, at time.Time, err error) {
	v, err := d.said.get(d.opts.Occupancy, d.opts.Stale.Occupancy)
	if err != nil {
		return "", at, err
	}
	n, err := v.whole(0, 1)
	if n == 1 {
		return drivers.Occupied, v.at, nil
	}
	return drivers.Vacant, v.at, about(d.opts.Occupancy, err)
}

func (d *Device) buzzer() (value string, details map[string]any, at time.Time, err error) {
	v, err := d.said.get(soundFile, d.opts.Stale.Buzzer)
	if err != nil {
		return "", nil, at, err
	}
	if v.isText {
		details = map[string]any{"sound": v.text}
	}
	idle, err := v.idle()
	return drivers.OnOff(!idle), details, v.at, about(soundFile, err)
}

// ring is on while it shows a color or a pattern that is not off, unless it is
// known to be dimmed to nothing. It is as old as the oldest of what it is made
// of. A hub that never speaks of its brightness is not dimmed.
func (d *Device) ring() (value string, details map[string]any, at time.Time, err error) {
	details = map[string]any{}
	get := func(sub string) reading {
		v, problem := d.said.get(sub, d.opts.Stale.Ring)
		err = cmp.Or(err, problem)
		if at.IsZero() || v.at.Before(at) {
			at = v.at
		}
		return v
	}
	read := func(sub string, low, high float64) int {
		n, problem := get(sub).whole(low, high)
		err = cmp.Or(err, about(sub, problem))
		return n
	}
	lit := false
	if read(ringOverride, 0, 1) == 1 {
		c := color{read(ringRed, 0, levelMax), read(ringGreen, 0, levelMax), read(ringBlue, 0, levelMax)}
		details["color"], lit = c.String(), c != color{}
	} else if err == nil {
		p := read(ringPattern, patternOff, patternLast)
		details["pattern"], lit = p, p != patternOff
	}
	if _, dims := d.said.values[ringBrightness]; dims && err == nil {
		b, problem := get(ringBrightness).within(0, levelMax)
		err = cmp.Or(err, about(ringBrightness, problem))
		details["brightness"], lit = b, lit && b > 0
	}
	if err != nil {
		return "", nil, at, err
	}
	return drivers.OnOff(lit), details, at, nil
}

// about names the subtopic whose report is wrong.
func about(sub string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", sub, err)
}

// dark says whether the ring is known to be dimmed to nothing.
func (r *readings) dark() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, err := r.get(ringBrightness, 0)
	return err == nil && !v.isText && v.number == 0
}
