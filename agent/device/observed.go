package device

import (
	"sync"
	"sync/atomic"
	"time"

	"roomgate/agent/problem"
	"roomgate/drivers"
)

// observed is what is known of a device. Readers take no lock.
type observed struct {
	known       atomic.Pointer[snapshot]            // what readers see
	showing     sync.Mutex                          // held by who sets known
	description atomic.Pointer[drivers.Description] // nil until it was opened
	picture     atomic.Pointer[takenPicture]
	seen        atomic.Bool // it had its first verdict
	tried       atomic.Bool // it was opened since the start, or could not be
	before      string      // its own value when the process before this one ended; empty: none
}

type takenPicture struct {
	picture *drivers.Picture
	at      time.Time
}

// Reading returns what may be shown now of the device, or of a sub-device if sub
// is not empty; ok is false if it has none of that name.
func (d *Device) Reading(sub string) (r Reading, ok bool) {
	return d.known.Load().shown().find(sub)
}

// Readings returns what may be shown now of the device, which comes first, and
// of its sub-devices. The slice must not be changed.
func (d *Device) Readings() []Reading { return d.known.Load().shown().readings }

// Status is Reading for who asks by a name of the platform. The error is
// NotFound and names the sub-device.
func (d *Device) Status(sub string) (Reading, error) {
	r, ok := d.Reading(drivers.Canonical(sub))
	if !ok {
		return Reading{}, problem.New(problem.NotFound, "sub_device", "is not known: %s has %s", d.Type, problem.List(drivers.SubDevices(d.Type)))
	}
	return r, nil
}

// Before is the device's own value when the process before this one ended;
// empty: nothing is known of that.
func (d *Device) Before() string { return d.before }

// Seen says whether the device had its first verdict since the start, be it
// that it is offline.
func (d *Device) Seen() bool { return d.seen.Load() }

// Excuse lets nobody wait for the device's first verdict: it takes the place of
// another while the building runs.
func (d *Device) Excuse() { d.seen.Store(true) }

// Opened says whether the device has said what it can do, so that Parse knows.
func (d *Device) Opened() bool { return d.description.Load() != nil }

// Describe is the device as data; before it was opened that is its type only.
func (d *Device) Describe() drivers.Description {
	if known := d.description.Load(); known != nil {
		return *known
	}
	return drivers.Description{Type: d.Type, Driver: d.Driver, Summary: "not opened yet: " + d.known.Load().readings[0].Reason}
}

// Picture returns the last snapshot of a camera or screenshot of a display, and
// when it was taken. It is kept in memory only.
func (d *Device) Picture() (p *drivers.Picture, at time.Time, ok bool) {
	taken := d.picture.Load()
	if taken == nil {
		return nil, time.Time{}, false
	}
	return taken.picture, taken.at, true
}

// KeepPicture takes a picture of a display that nobody asked for. It replaces
// the last one.
func (d *Device) KeepPicture(p *drivers.Picture) error {
	if !d.Live().Enabled {
		return ErrDisabled()
	}
	d.picture.Store(&takenPicture{p, time.Now()})
	return nil
}
