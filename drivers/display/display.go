package display

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"roomgate/drivers"
)

// longestMessage is the most characters that a page has room for.
const longestMessage = 200

// display is one opened room display.
type display struct {
	page      *drivers.Page
	name      string
	stale     time.Duration
	backlight *backlight // nil: not wired
	closed    atomic.Bool
}

// Describe says what the display takes.
func (d *display) Describe() drivers.Description {
	return drivers.Description{
		Type:    drivers.TypeDisplay,
		Driver:  "display-page",
		Summary: "the display at the door of the room",
		Actions: []drivers.Action{
			{Name: drivers.ActOn, Summary: "light the screen"},
			{Name: drivers.ActOff, Summary: "darken the screen"},
			{
				Name:    drivers.ActBrightness,
				Summary: "set how bright the page is shown",
				Params: []drivers.Param{{
					Name: drivers.ValueName, Kind: drivers.KindInteger, Unit: "%", Min: 0, Max: 100,
				}},
			},
			{
				Name:    drivers.ActMessage,
				Summary: "show a message on the page",
				Params: []drivers.Param{{
					Name: drivers.ValueName, Kind: drivers.KindText, Min: 1, Max: longestMessage,
				}},
			},
			{Name: drivers.ActRefresh, Summary: "load the page again"},
			{Name: drivers.ActScreenshot, Summary: "take a picture of what the page shows"},
		},
	}
}

// Poll says whether the page is heard of: drivers.ErrOffline if not.
func (d *display) Poll(ctx context.Context) ([]drivers.Status, error) {
	if err := d.ready(ctx); err != nil {
		return nil, err
	}
	if err := d.present(); err != nil {
		return nil, err
	}
	return []drivers.Status{d.status("page")}, nil
}

// present is drivers.ErrOffline if the page has been silent for too long.
func (d *display) present() error {
	seen := d.page.Seen()
	if seen.IsZero() {
		return fmt.Errorf("page %s has not been heard of yet: %w", d.name, drivers.ErrOffline)
	}
	if silent := time.Since(seen); silent > d.stale {
		return fmt.Errorf("page %s is silent for %v: %w", d.name, silent.Round(time.Second), drivers.ErrOffline)
	}
	return nil
}

// status is the display, which has no value, as of the page's last beat.
func (d *display) status(source string) drivers.Status {
	s := drivers.Status{ObservedAt: d.page.Seen(), Source: source}
	if d.backlight != nil {
		s.Details = map[string]any{"backlight": drivers.OnOff(d.backlight.isLit())}
	}
	return s
}

// Do switches the backlight, or hands the order to the page and waits for its
// answer.
func (d *display) Do(ctx context.Context, c drivers.Command) (drivers.Status, error) {
	if err := d.ready(ctx); err != nil {
		return drivers.Status{}, err
	}
	if _, _, ok := d.Describe().Action(c.Sub, c.Action); !ok {
		return drivers.Status{}, drivers.ErrUnsupported
	}
	switch c.Action {
	case drivers.ActOn, drivers.ActOff:
		if d.backlight != nil {
			return d.light(c.Action == drivers.ActOn)
		}
	case drivers.ActBrightness:
		percent := int(c.Args.Number(drivers.ValueName))
		return d.order(ctx, c.Action, strconv.Itoa(percent))
	}
	return d.order(ctx, c.Action, c.Args.Text(drivers.ValueName))
}

// light switches the backlight, which needs no page.
func (d *display) light(lit bool) (drivers.Status, error) {
	if err := d.backlight.set(lit); err != nil {
		return drivers.Status{}, err
	}
	s := d.status(drivers.SourceCommand)
	s.ObservedAt = time.Now()
	return s, nil
}

// order asks the page. A page that is away is not waited for.
func (d *display) order(ctx context.Context, action, text string) (drivers.Status, error) {
	if err := d.present(); err != nil {
		return drivers.Status{}, err
	}
	done, err := d.page.Do(ctx, action, text)
	switch {
	case err != nil && ctx.Err() == nil:
		return drivers.Status{}, fmt.Errorf("page %s: %w", d.name, err)
	case err != nil:
		return drivers.Status{}, fmt.Errorf("page %s did not answer: %w (%w)", d.name, drivers.ErrNotConfirmed, err)
	case done.Error != "":
		return drivers.Status{}, fmt.Errorf("page %s: %w: %s", d.name, drivers.ErrNotConfirmed, done.Error)
	case action == drivers.ActScreenshot && done.Picture == nil:
		return drivers.Status{}, fmt.Errorf("page %s sent no picture: %w", d.name, drivers.ErrNotConfirmed)
	}
	s := d.status("page")
	s.Picture = done.Picture
	return s, nil
}

func (d *display) ready(ctx context.Context) error {
	if d.closed.Load() {
		return drivers.ErrClosed
	}
	return context.Cause(ctx)
}

// Close lights the screen and gives the line back.
func (d *display) Close() error {
	if d.closed.Swap(true) || d.backlight == nil {
		return nil
	}
	return d.backlight.close()
}
