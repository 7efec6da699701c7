package sim

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"sync"
	"time"

	"roomgate/drivers"
)

// beat is how often a room display's page is heard of.
const beat = 2 * time.Second

// yield is for how long it is silent once another page of the room has beaten, as
// somebody has opened the real one.
const yield = 15 * time.Second

// Tablet is a room display with its browser page open: it beats, shows
// messages, dims, reloads and takes screenshots (PNG).
type Tablet struct {
	Faults `yaml:"-"`
	Page   string `yaml:"page"`

	mu         sync.Mutex
	last       time.Time // when it last beat
	message    string
	reloads    int
	dark       bool
	brightness string // as ordered, in %
}

// Attach wires it into the world.
func (t *Tablet) Attach(w *World) error {
	if t.Page == "" {
		return fmt.Errorf("the tablet's page has no name: give it one")
	}
	page := w.Page(t.Page)
	w.Run(func() { t.live(page) })
	return nil
}

// live beats until the world ends.
func (t *Tablet) live(page *drivers.Page) {
	for {
		bell := t.wait() // before the look, or a plug in between would not be heard
		garbled, err := t.pass(t.Page, nil)
		if err == nil {
			t.beat(page, garbled)
		}
		timer := time.NewTimer(beat)
		select {
		case <-timer.C:
		case <-bell:
		case <-t.done:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// beat fetches the commands, and beats once more with the answers if any. It leaves
// them to another page of the room that beats too.
func (t *Tablet) beat(page *drivers.Page, garbled bool) {
	if seen := page.Seen(); seen.After(t.last) && time.Since(seen) < yield {
		return
	}
	var done []drivers.PageDone
	t.last = time.Now()
	for _, o := range page.Beat(t.last) {
		if garbled {
			done = append(done, drivers.PageDone{ID: o.ID, Error: "the command was not understood"})
		} else {
			done = append(done, t.obey(o))
		}
	}
	if len(done) > 0 {
		t.last = time.Now()
		page.Beat(t.last, done...)
	}
}

func (t *Tablet) obey(o drivers.PageCommand) drivers.PageDone {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := drivers.PageDone{ID: o.ID}
	switch o.Action {
	case drivers.ActMessage:
		t.message = o.Text
	case drivers.ActOn, drivers.ActOff:
		t.dark = o.Action == drivers.ActOff
	case drivers.ActBrightness:
		t.brightness = o.Text
	case drivers.ActRefresh:
		t.reloads++
	case drivers.ActScreenshot:
		done.Picture = t.screenshot()
	default:
		done.Error = "the page does not know " + o.Action
	}
	return done
}

// screenshot is a picture of the page: white for none, blue with a message.
func (t *Tablet) screenshot() *drivers.Picture {
	ink := color.RGBA{255, 255, 255, 255}
	if t.message != "" {
		ink = color.RGBA{32, 64, 160, 255}
	}
	page := image.NewPaletted(image.Rect(0, 0, 320, 200), color.Palette{ink})
	var b bytes.Buffer
	if err := png.Encode(&b, page); err != nil {
		return nil
	}
	return &drivers.Picture{ContentType: "image/png", Data: b.Bytes()}
}

// Message is what the page shows.
func (t *Tablet) Message() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.message
}

// Reloads is how often the page was loaded again.
func (t *Tablet) Reloads() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reloads
}

// State says how it is.
func (t *Tablet) State() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dark {
		return "dark"
	}
	return fmt.Sprintf("shows %q at %s %%", t.message, cmp.Or(t.brightness, "100"))
}
