package acceptance

import (
	"context"
	"fmt"
	"strings"
	"time"

	"roomgate/agent/device"
	"roomgate/drivers"
)

// The temperatures of a room that people live in, in °C.
const (
	coldest = -10
	hottest = 50
)

// hub walks the sub-devices of a sensor hub.
func (w *walk) hub(ctx context.Context, before []device.Reading) error {
	for _, sub := range w.device.Description.Subs {
		r := find(before, sub.Name)
		if strings.Contains(r.Reason, drivers.ErrUnsupported.Error()) {
			w.add(Step{SubDevice: sub.Name, Name: "answers", Result: Passed, Seen: "not fitted"})
			continue
		}
		if r.Status == device.Offline {
			w.add(Step{SubDevice: sub.Name, Name: "answers", Result: Failed, Seen: "offline", Note: r.Reason})
			continue
		}
		var err error
		switch sub.Name {
		case drivers.SubTemperature:
			err = w.temperature(ctx, r)
		case drivers.SubOccupancy:
			err = w.occupancy(ctx, r)
		case drivers.SubBuzzer:
			err = w.buzzer(ctx)
		case drivers.SubRing:
			err = w.ring(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) temperature(ctx context.Context, r device.Reading) error {
	s := Step{SubDevice: r.SubDevice, Name: "plausible", Result: Passed, Seen: r.Value + " °C", Source: r.Source}
	if r.Status != device.Normal {
		s.Note = "outside of the alert's range: " + r.Status
	}
	t, ok := number(r.Value)
	if !ok || t < coldest || t > hottest {
		s.Result, s.Note = Failed, fmt.Sprintf("want a temperature of %d to %d °C", coldest, hottest)
	}
	w.add(s)
	return w.ask(ctx, r.SubDevice, "is it about "+r.Value+" °C in "+w.room.Name+"?")
}

// occupancy waits until the sensor notices the person who moves.
func (w *walk) occupancy(ctx context.Context, r device.Reading) error {
	w.add(Step{SubDevice: r.SubDevice, Name: "answers", Result: Passed, Seen: r.Value, Source: r.Source})
	s := Step{SubDevice: r.SubDevice, Name: "notices somebody who moves", Result: Unseen, Note: "nobody was asked"}
	if w.person.Ask == nil {
		w.add(s)
		return nil
	}
	a, err := w.person.Ask(ctx, fmt.Sprintf("the room is %s: move below the sensor for up to %v; ready?", r.Value, moves))
	if err != nil {
		return err
	}
	s.Note = a.Note
	if s.Result = a.Result; a.Result == Passed {
		err = w.notice(ctx, &s)
	}
	w.add(s)
	return err
}

// notice reads until the room is occupied.
func (w *walk) notice(ctx context.Context, s *Step) error {
	started := time.Now()
	for time.Since(started) < moves {
		all, err := w.room.Read(ctx, w.device.Type)
		if err != nil {
			return err
		}
		if r := find(all, s.SubDevice); r.Value == drivers.Occupied && r.Status != device.Offline {
			s.Seen, s.Source, s.LatencyMS = r.Value, r.Source, float64(time.Since(started).Milliseconds())
			return nil
		}
		if err := pause(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
	s.Result, s.Seen, s.Note = Failed, drivers.Vacant, fmt.Sprintf("nobody was noticed within %v", moves)
	return nil
}

func (w *walk) buzzer(ctx context.Context) error {
	beep := map[string]any{"pattern": "double", "seconds": 1}
	if _, err := w.command(ctx, drivers.SubBuzzer, drivers.ActBeep, beep, anything); err != nil {
		return err
	}
	if err := w.look(ctx, moment); err != nil {
		return err
	}
	return w.ask(ctx, drivers.SubBuzzer, "did you hear two beeps?")
}

func (w *walk) ring(ctx context.Context) error {
	var tries []try
	for _, color := range []string{"#ff0000", "#00ff00", "#0000ff"} {
		tries = append(tries, try{drivers.ActColor, color, shows("color", color)})
	}
	if err := w.all(ctx, drivers.SubRing, append(tries, try{drivers.ActOff, nil, becomes(drivers.Off)})...); err != nil {
		return err
	}
	return w.ask(ctx, drivers.SubRing, "did the ring shine red, green and blue, and go dark?")
}
