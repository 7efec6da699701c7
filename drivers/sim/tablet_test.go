package sim

import (
	"bytes"
	"context"
	"image/png"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
)

// order gives an order to the tablet's page.
func order(t *testing.T, w *World, action, text string) drivers.PageDone {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*beat)
	defer cancel()
	done, err := w.Page("door").Do(ctx, action, text)
	if err != nil {
		t.Fatalf("%s: %v", action, err)
	}
	return done
}

func TestTabletObeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tablet := &Tablet{Page: "door"}
		w := world(t, tablet)
		if d := order(t, w, drivers.ActMessage, "back at ten"); d.Error != "" || tablet.Message() != "back at ten" {
			t.Errorf("message: %+v, shows %q", d, tablet.Message())
		}
		if d := order(t, w, drivers.ActRefresh, ""); d.Error != "" || tablet.Reloads() != 1 {
			t.Errorf("refresh: %+v, %d reloads", d, tablet.Reloads())
		}
		d := order(t, w, drivers.ActScreenshot, "")
		if d.Picture == nil || d.Picture.ContentType != "image/png" {
			t.Fatalf("screenshot: %+v", d)
		}
		if _, err := png.Decode(bytes.NewReader(d.Picture.Data)); err != nil {
			t.Error(err)
		}
		if d := order(t, w, "dance", ""); d.Error == "" {
			t.Error("an unknown order is obeyed")
		}
	})
}

func TestTabletBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tablet := &Tablet{Page: "door"}
		page := world(t, tablet).Page("door")
		time.Sleep(time.Hour)
		if ago := time.Since(page.Seen()); ago > beat {
			t.Errorf("last heard of %s ago", ago)
		}
		for _, silence := range []struct{ begin, end func() }{{tablet.Unplug, tablet.Plug}, {tablet.Stick, tablet.Unstick}} {
			silence.begin()
			synctest.Wait()
			last := page.Seen()
			time.Sleep(time.Hour)
			if !page.Seen().Equal(last) {
				t.Error("a silent tablet beats")
			}
			silence.end()
			synctest.Wait()
			if page.Seen().Equal(last) {
				t.Error("the tablet is back and does not beat")
			}
		}
	})
}

func TestGarbledTabletDoesNotObey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tablet := &Tablet{Page: "door"}
		w := world(t, tablet)
		tablet.Garble()
		if d := order(t, w, drivers.ActMessage, "hello"); d.Error == "" || tablet.Message() != "" {
			t.Errorf("%+v, shows %q", d, tablet.Message())
		}
	})
}
