package display

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/sim"
)

func wired() *Options {
	o := Kind().Options().(*Options)
	o.Page, o.Backlight = "room", "light"
	return o
}

func TestConformance(t *testing.T) {
	var light *sim.Backlight
	set := func(change func(*Options)) func(drivers.Options) {
		return func(o drivers.Options) { change(o.(*Options)) }
	}
	drivertest.Run(t, drivertest.Case{
		Kind:    Kind(),
		Options: func() drivers.Options { return wired() },
		Parts: func() []sim.Part {
			light = &sim.Backlight{Line: "light"}
			return []sim.Part{light, &sim.Tablet{Page: "room"}}
		},
		Bad: []drivertest.Bad{
			{Field: "page", Change: set(func(o *Options) { o.Page = "" })},
			{Field: "stale", Change: set(func(o *Options) { o.Stale = time.Second })},
		},
		Safe: map[string]float64{"light": 1},
		Confirm: func(t *testing.T, c drivers.Command, s drivers.Status) {
			lit := light.Brightness() > 0
			if s.Details["backlight"] != drivers.OnOff(lit) || lit == (c.Action == drivers.ActOff) {
				t.Errorf("%s: told as %v, the light is at %g", c.Action, s.Details, light.Brightness())
			}
		},
	})
}

// page answers commands as answer says, from the test's own hand.
type page struct {
	*drivers.Page
	commands []drivers.PageCommand
}

func (p *page) serve(ctx context.Context, answer func(drivers.PageCommand) drivers.PageDone) {
	for ctx.Err() == nil {
		for _, o := range p.Beat(time.Now()) {
			p.commands = append(p.commands, o)
			done := answer(o)
			done.ID = o.ID
			p.Beat(time.Now(), done)
		}
		time.Sleep(time.Second)
	}
}

// on opens a display without a backlight and serves its page.
func on(t *testing.T, answer func(drivers.PageCommand) drivers.PageDone, f func(t *testing.T, d drivers.Driver, p *page)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld()
		defer w.Close()
		o := wired()
		o.Backlight = ""
		d, err := o.Open(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		p := &page{Page: w.Page("room")}
		ctx, cancel := context.WithCancel(t.Context())
		var serving sync.WaitGroup
		if answer != nil {
			serving.Go(func() { p.serve(ctx, answer) })
			synctest.Wait()
		}
		f(t, d, p)
		cancel()
		serving.Wait()
	})
}

func agree(drivers.PageCommand) drivers.PageDone { return drivers.PageDone{} }

func TestEveryCommandGoesToThePage(t *testing.T) {
	value := func(v any) drivers.Args { return drivers.Args{drivers.ValueName: v} }
	on(t, agree, func(t *testing.T, d drivers.Driver, p *page) {
		for _, c := range []drivers.Command{
			{Action: drivers.ActOn}, {Action: drivers.ActOff}, {Action: drivers.ActRefresh},
			{Action: drivers.ActBrightness, Args: value(40.0)},
			{Action: drivers.ActMessage, Args: value("fire drill at ten")},
		} {
			s, err := d.Do(t.Context(), c)
			if err != nil || s.Value != "" || s.Source != "page" {
				t.Errorf("%s: %+v, %v", c.Action, s, err)
			}
		}
		synctest.Wait()
		var got []string
		for _, o := range p.commands {
			got = append(got, o.Action+" "+o.Text)
		}
		if all := strings.Join(got, ","); all != "on ,off ,refresh ,brightness 40,message fire drill at ten" {
			t.Errorf("the page was asked for %q", all)
		}
	})
}

func TestPageThatRefuses(t *testing.T) {
	refuse := func(drivers.PageCommand) drivers.PageDone { return drivers.PageDone{Error: "no room on the screen"} }
	on(t, refuse, func(t *testing.T, d drivers.Driver, _ *page) {
		_, err := d.Do(t.Context(), drivers.Command{Action: drivers.ActRefresh})
		if !errors.Is(err, drivers.ErrNotConfirmed) || !strings.Contains(err.Error(), "no room on the screen") {
			t.Errorf("%v", err)
		}
	})
	on(t, agree, func(t *testing.T, d drivers.Driver, _ *page) {
		_, err := d.Do(t.Context(), drivers.Command{Action: drivers.ActScreenshot})
		if !errors.Is(err, drivers.ErrNotConfirmed) {
			t.Errorf("a screenshot without a picture: %v", err)
		}
	})
}

func TestPageThatFallsSilent(t *testing.T) {
	on(t, nil, func(t *testing.T, d drivers.Driver, p *page) {
		if _, err := d.Poll(t.Context()); !errors.Is(err, drivers.ErrOffline) {
			t.Errorf("never heard of: %v", err)
		}
		p.Beat(time.Now())
		if _, err := d.Poll(t.Context()); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := d.Do(ctx, drivers.Command{Action: drivers.ActRefresh})
		if !errors.Is(err, drivers.ErrNotConfirmed) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("no answer: %v", err)
		}
		time.Sleep(11 * time.Second)
		if _, err := d.Poll(t.Context()); !errors.Is(err, drivers.ErrOffline) {
			t.Errorf("silent for 16 s: %v", err)
		}
		began := time.Now()
		_, err = d.Do(t.Context(), drivers.Command{Action: drivers.ActRefresh})
		if !errors.Is(err, drivers.ErrOffline) || time.Since(began) > 0 {
			t.Errorf("an order to a page that is away: %v after %v", err, time.Since(began))
		}
	})
}
