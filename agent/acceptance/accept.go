package acceptance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"roomgate/agent/device"
	"roomgate/drivers"
)

// Answer is what a person says to a question.
type Answer struct {
	Result Result // Passed for yes, Failed for no, or Skipped
	Note   string
}

// Person is somebody who stands in the room.
type Person struct {
	// Ask puts a question; nil: nobody is there to be asked.
	Ask func(ctx context.Context, question string) (Answer, error)
	// Show gets a picture before the question what is on it; it returns where
	// the person finds it.
	Show func(p Picture) (where string, err error)
	// Told is called after each step, nil: nobody listens.
	Told func(deviceType string, s Step)
}

// Accept walks the room device by device, but for the types in without. An
// error is that of a walk which could not be ended; what a device does wrong
// is in the report. The report is not judged and signed yet.
func Accept(ctx context.Context, r Room, p Person, without []string) ([]DeviceReport, error) {
	var all []DeviceReport
	for _, d := range r.Devices {
		w := &walk{room: r, device: d, person: p,
			report: DeviceReport{ID: d.ID, Type: d.Type, Driver: d.Driver, Steps: []Step{}}}
		if slices.Contains(without, d.Type) {
			w.add(Step{Name: "walk", Result: Skipped, Note: "left out by the person who accepted the room"})
		} else if err := w.run(ctx); err != nil {
			return all, fmt.Errorf("%s: %w", d.Type, err)
		}
		w.report.judge()
		all = append(all, w.report)
	}
	return all, nil
}

// walk is one device on its way through its steps.
type walk struct {
	room   Room
	device device.Info
	person Person
	report DeviceReport
}

// run goes through the steps of the device, and brings it back to what it was.
func (w *walk) run(ctx context.Context) error {
	if !w.device.Enabled {
		w.add(Step{Name: "answers", Result: Skipped, Note: "not enabled in the configuration"})
		return nil
	}
	before, err := w.room.Read(ctx, w.device.Type)
	if err != nil {
		return err
	}
	if !w.answers(before) {
		return nil // each command would only wait for nothing
	}
	walked := w.steps(ctx, before)
	if err := w.room.restore(ctx, w.device, before); err != nil {
		w.add(Step{Name: "restore", Result: Failed, Note: err.Error()})
	}
	return walked
}

// answers says whether the device and what belongs to it is there.
func (w *walk) answers(before []device.Reading) bool {
	own := find(before, "")
	if own.Status == device.Offline {
		w.add(Step{Name: "answers", Result: Failed, Seen: "offline", Note: own.Reason})
		return false
	}
	w.add(Step{Name: "answers", Result: Passed, Seen: strings.TrimSpace(own.Status + " " + own.Value), Source: own.Source})
	return true
}

// steps are what a device of each type is put through.
func (w *walk) steps(ctx context.Context, before []device.Reading) error {
	switch w.device.Type {
	case drivers.TypeLock:
		return w.lock(ctx)
	case drivers.TypeLight:
		return w.light(ctx)
	case drivers.TypeFan:
		return w.fan(ctx)
	case drivers.TypeCamera:
		return w.camera(ctx)
	case drivers.TypeDisplay:
		return w.display(ctx, before)
	case drivers.TypeO3:
		return w.hub(ctx, before)
	}
	return nil
}

func (w *walk) add(s Step) {
	w.report.Steps = append(w.report.Steps, s)
	if w.person.Told != nil {
		w.person.Told(w.device.Type, s)
	}
}

// command tries a command and judges its evidence: judge returns what is wrong,
// or nothing. The error is only that of a gateway that is gone or of ctx.
func (w *walk) command(ctx context.Context, sub, action string, value any, judge func(*device.Evidence) string) (ok bool, err error) {
	if !takes(w.device, sub, action) {
		return true, nil // not every product can do everything
	}
	s := Step{SubDevice: sub, Name: strings.TrimSpace(fmt.Sprint(action, " ", words(value))), Result: Passed}
	started := time.Now()
	receipt, err := w.room.do(ctx, Command{w.device.Type, sub, action, value})
	if gone(ctx, err) {
		return false, err
	}
	s.LatencyMS = milliseconds(receipt, time.Since(started))
	if e := receipt.Evidence; e != nil {
		s.Seen, s.Source = seen(e), e.Source
		if wrong := judge(e); wrong != "" && err == nil {
			err = errors.New(wrong)
		}
	}
	if err != nil {
		s.Result, s.Note = Failed, err.Error()
	}
	w.add(s)
	return err == nil, nil
}

// gone says whether there is no sense in going on.
func gone(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, ErrUnreachable))
}

// milliseconds from the command to its evidence: by the gateway's clock if it
// tells both times, else as long as we waited.
func milliseconds(r device.Receipt, waited time.Duration) float64 {
	if !r.FinishedAt.IsZero() && !r.FinishedAt.Before(r.ReceivedAt) {
		waited = r.FinishedAt.Sub(r.ReceivedAt)
	}
	return float64(waited.Microseconds()/100) / 10
}

// words is a value for people.
func words(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case map[string]any:
		var all []string
		for _, name := range []string{"pattern", "seconds"} {
			if v[name] != nil {
				all = append(all, fmt.Sprint(v[name]))
			}
		}
		return strings.Join(all, " ")
	}
	return fmt.Sprint(value)
}

// seen is evidence for people.
func seen(e *device.Evidence) string {
	parts := []string{e.Value}
	for _, name := range []string{"intensity", "rpm", "color", "brightness", "door", "width", "height", "backlight"} {
		if v, ok := e.Details[name]; ok {
			parts = append(parts, fmt.Sprintf("%s %v", name, v))
		}
	}
	return strings.TrimPrefix(strings.Join(parts, ", "), ", ")
}

// ask puts a question about what was just done.
func (w *walk) ask(ctx context.Context, sub, question string) error {
	return w.askFor(ctx, Step{SubDevice: sub, Name: question}, question)
}

// askFor puts a question that the report has in other words.
func (w *walk) askFor(ctx context.Context, s Step, question string) error {
	s.Result, s.Source = Unseen, "person"
	if w.person.Ask == nil {
		s.Source, s.Note = "", "nobody was asked"
		w.add(s)
		return nil
	}
	a, err := w.person.Ask(ctx, question)
	if err != nil {
		return err
	}
	s.Result, s.Note = a.Result, a.Note
	s.Seen = map[Result]string{Passed: "yes", Failed: "no"}[a.Result]
	w.add(s)
	return nil
}

// look leaves a person time to see what was ordered; a machine needs none.
func (w *walk) look(ctx context.Context, d time.Duration) error {
	if w.person.Ask == nil {
		return nil
	}
	return pause(ctx, d)
}

// anything takes every evidence.
func anything(*device.Evidence) string { return "" }

// becomes wants the value.
func becomes(value string) func(*device.Evidence) string {
	return func(e *device.Evidence) string {
		if e.Value != value {
			return fmt.Sprintf("it is %s, want %s", e.Value, value)
		}
		return ""
	}
}

// shows wants a detail, where the device tells it.
func shows(name string, want any) func(*device.Evidence) string {
	return func(e *device.Evidence) string {
		if got, told := e.Details[name]; told && fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Sprintf("%s is %v, want %v", name, got, want)
		}
		return ""
	}
}
