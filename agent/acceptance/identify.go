package acceptance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"roomgate/agent/device"
	"roomgate/drivers"
)

// show is how a device or a sub-device makes itself known.
type show struct {
	sub   string
	what  string // for the person who looks
	turns []turn
}

// turn is one command of a show, and how long it is looked at.
type turn struct {
	action string
	value  any
	hold   time.Duration
}

// Shown is a show that was given.
type Shown struct {
	Device string `json:"device"` // the device type or the sub-device
	What   string `json:"what"`
}

// Identify makes a device of the room, or one of its sub-devices, show itself,
// and brings it back to what it was. told is called before each show.
func (r Room) Identify(ctx context.Context, deviceType, sub string, told func(Shown)) error {
	d, err := r.device(deviceType)
	if err != nil {
		return err
	}
	list, err := r.shows(d, sub)
	if err != nil {
		return err
	}
	before, err := r.Read(ctx, deviceType)
	if err != nil {
		return err
	}
	if d.Type == drivers.TypeLock && find(before, "").Value == drivers.Open {
		return errors.New("the lock is open: close it first, then it clicks")
	}
	for _, s := range list {
		name := s.sub
		if name == "" {
			name = d.Type
		}
		told(Shown{name, s.what})
		played := r.play(ctx, d, s)
		was := []device.Reading{find(before, s.sub)}
		if err := errors.Join(played, r.restore(ctx, d, was)); err != nil {
			return err
		}
	}
	return nil
}

func (r Room) play(ctx context.Context, d device.Info, s show) error {
	for _, t := range s.turns {
		o := Command{d.Type, s.sub, t.action, t.value}
		if _, err := r.do(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", t.action, err)
		}
		if err := pause(ctx, t.hold); err != nil {
			return err
		}
	}
	return nil
}

// shows are what a device or a sub-device can do to be found.
func (r Room) shows(d device.Info, sub string) ([]show, error) {
	if d.Type == drivers.TypeO3 && sub == "" {
		var all []show
		for _, s := range []show{ring(), buzzer()} {
			if takes(d, s.sub, s.turns[0].action) {
				all = append(all, s)
			}
		}
		if len(all) > 0 {
			return all, nil
		}
	}
	s, ok := r.show(d, sub)
	if !ok || !takes(d, sub, s.turns[0].action) {
		name := d.Type
		if sub != "" {
			name = sub
		}
		return nil, fmt.Errorf("%s cannot show itself: identify the device that it is a part of, or see roomgate device status", name)
	}
	return []show{s}, nil
}

func (r Room) show(d device.Info, sub string) (show, bool) {
	const moment = 600 * time.Millisecond
	switch {
	case sub == drivers.SubRing:
		return ring(), true
	case sub == drivers.SubBuzzer:
		return buzzer(), true
	case sub != "":
		return show{}, false
	}
	switch d.Type {
	case drivers.TypeLock:
		return show{"", "the lock clicks open and locks again", []turn{
			{drivers.ActOpen, nil, moment}, {drivers.ActClose, nil, 0}}}, true
	case drivers.TypeLight:
		on, off := turn{drivers.ActOn, nil, moment}, turn{drivers.ActOff, nil, moment}
		return show{"", "the light goes on and off three times", []turn{off, on, off, on, off, on}}, true
	case drivers.TypeFan:
		if takes(d, "", drivers.ActIntensity) {
			return show{"", "the fan runs up", []turn{{drivers.ActIntensity, 100, 3 * time.Second}}}, true
		}
		return show{"", "the fan runs", []turn{{drivers.ActOn, nil, 3 * time.Second}}}, true
	case drivers.TypeDisplay:
		return show{"", "the display shows " + greeting(r.Name), []turn{
			{drivers.ActOn, nil, 0}, {drivers.ActMessage, greeting(r.Name), 5 * time.Second}}}, true
	case drivers.TypeCamera:
		return show{"", "the camera takes a picture", []turn{{drivers.ActSnapshot, nil, 0}}}, true
	}
	return show{}, false
}

// greeting is what a room display shows of itself.
func greeting(space string) string { return "This is " + space }

func ring() show {
	const beat = 400 * time.Millisecond
	off, on := turn{drivers.ActOff, nil, beat}, turn{drivers.ActOn, nil, beat}
	return show{drivers.SubRing, "the ring blinks blue", []turn{{drivers.ActColor, "#0040ff", beat}, off, on, off, on}}
}

func buzzer() show {
	beep := map[string]any{"pattern": "double", "seconds": 1}
	return show{drivers.SubBuzzer, "the buzzer beeps twice", []turn{{drivers.ActBeep, beep, 1200 * time.Millisecond}}}
}
