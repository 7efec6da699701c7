package drivertest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"roomgate/drivers"
)

// commands: each action, with its least, its greatest and typical values, is
// carried out, and the next Poll says the same.
func commands(b *bench) {
	b.start()
	d := b.driver.Describe()
	for _, sub := range subs(d) {
		for _, a := range sequence(d, sub) {
			for _, value := range values(a) {
				b.command(sub, a, value)
			}
		}
	}
}

// sequence is the order in which a person would try the actions: switched on
// first, switched off last.
func sequence(d drivers.Description, sub string) []drivers.Action {
	actions := d.Actions
	for _, s := range d.Subs {
		if s.Name == sub {
			actions = s.Actions
		}
	}
	var first, middle, last []drivers.Action
	for _, a := range actions {
		switch a.Name {
		case drivers.ActOn, drivers.ActOpen:
			first = append(first, a)
		case drivers.ActOff, drivers.ActClose:
			last = append(last, a)
		default:
			middle = append(middle, a)
		}
	}
	return append(append(append(first, middle...), last...), first...)
}

// values are the JSON values with which an action is tried: all parameters at
// their least, at their greatest, in the middle, and each choice.
func values(a drivers.Action) []string {
	if len(a.Params) == 0 {
		return []string{""}
	}
	tries := 3
	for _, p := range a.Params {
		tries = max(tries, len(p.Choices))
	}
	var all []string
	for i := range tries {
		object := map[string]any{}
		for _, p := range a.Params {
			object[p.Name] = try(p, i)
		}
		raw, _ := json.Marshal(object)
		if len(a.Params) == 1 && a.Params[0].Name == drivers.ValueName {
			raw, _ = json.Marshal(object[drivers.ValueName])
		}
		all = append(all, string(raw))
	}
	return all
}

// try is the i-th value of a parameter.
func try(p drivers.Param, i int) any {
	switch p.Kind {
	case drivers.KindChoice:
		return p.Choices[i%len(p.Choices)]
	case drivers.KindColor:
		return []string{"#000000", "#FFFFFF", "#ff8800"}[i%3]
	case drivers.KindText:
		n := []float64{p.Min, p.Max, (p.Min + p.Max) / 2}[i%3]
		return strings.Repeat("é", int(n))
	case drivers.KindInteger:
		return []float64{p.Min, p.Max, float64(int((p.Min + p.Max) / 2))}[i%3]
	}
	return []float64{p.Min, p.Max, (p.Min + p.Max) / 2}[i%3]
}

func (b *bench) command(sub string, a drivers.Action, value string) {
	b.Helper()
	what := strings.TrimSpace(sub + " " + a.Name + " " + value)
	if !b.real() {
		time.Sleep(1300 * time.Millisecond) // what was reported before is older than the command
	}
	began := time.Now()
	c, s, err := b.do(sub, a.Name, value)
	if err != nil {
		b.Errorf("%s: %v", what, err)
		return
	}
	if s.ObservedAt.Before(began) {
		b.Errorf("%s: the evidence is %s older than the command", what, began.Sub(s.ObservedAt))
	}
	b.check(s)
	if s.Sub != sub {
		b.Errorf("%s: the status is of %q", what, s.Sub)
	}
	if want, ok := drivers.LeadsTo(b.c.Kind.Type, c); ok && s.Value != want {
		b.Errorf("%s: the value is %q, want %q", what, s.Value, want)
	}
	if pictured(a.Name) && (s.Picture == nil || len(s.Picture.Data) == 0 || s.Picture.ContentType == "") {
		b.Errorf("%s: there is no picture", what)
	}
	if b.c.Confirm != nil {
		b.settle()
		b.c.Confirm(b.T, c, s)
	}
	statuses, err := b.poll()
	if err := failed(statuses, err); err != nil {
		b.Errorf("%s: the next poll fails: %v", what, err)
		return
	}
	if after := of(statuses, sub); a.Name != drivers.ActBeep && after.Value != s.Value {
		b.Errorf("%s: the value was %q, the next poll says %q", what, s.Value, after.Value)
	}
	b.checkAll(statuses)
}

func pictured(action string) bool {
	return action == drivers.ActSnapshot || action == drivers.ActScreenshot
}

// unknown: what the device does not take is refused, and nothing moves; so
// is a command whose time is over.
func unknown(b *bench) {
	b.start()
	writes := b.writes()
	for _, c := range []drivers.Command{
		{Action: "fly"}, {Action: ""}, {Sub: "tail", Action: drivers.ActOn}, {Sub: drivers.SubTemperature, Action: drivers.ActOn},
	} {
		if _, err := b.driver.Do(b.Context(), c); !errors.Is(err, drivers.ErrUnsupported) {
			b.Errorf("%q %q gives %v, want ErrUnsupported", c.Sub, c.Action, err)
		}
	}
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	began := time.Now()
	d := b.driver.Describe()
	for _, sub := range subs(d) {
		for _, a := range sequence(d, sub) {
			args, _ := a.Parse([]byte(values(a)[0]))
			if _, err := b.driver.Do(ctx, drivers.Command{Sub: sub, Action: a.Name, Args: args}); err == nil {
				b.Errorf("%s %s is done although its context has ended", sub, a.Name)
			}
		}
	}
	if time.Since(began) > time.Second {
		b.Errorf("commands whose context has ended took %s", time.Since(began))
	}
	if b.writes() != writes {
		b.Error("a command that was refused moved an output")
	}
}
