package webhook

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
)

func TestWebhooksAreKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		a, b := r.hook("a", owner, BookingCreated), r.hook("b", another, BookingEnd)
		if got := r.List(""); len(got) != 2 || got[0].ID != a.ID || got[1].ID != b.ID {
			t.Errorf("webhooks %+v", got)
		}
		if got := r.List(another); len(got) != 1 || got[0].ID != b.ID {
			t.Errorf("webhooks of one organization %+v", got)
		}
		url, events, off := "https://new.example.com/", []string{BookingCreated, BookingCancelled}, Disabled
		changed, err := r.Change(t.Context(), a.ID, Change{URL: &url, Events: &events})
		if err != nil || changed.URL != url || len(changed.Events) != 2 {
			t.Errorf("changed to %+v, %v", changed, err)
		}
		if _, err := r.Change(t.Context(), b.ID, Change{State: &off}); err != nil {
			t.Error(err)
		}
		r.book("b1", 10)
		r.wait(time.Second)
		r.wantLines("told", "new booking.created b1")
		if err := r.Delete(t.Context(), b.ID); err != nil {
			t.Error(err)
		}
		r.stop()

		r = startRig(t, rigOptions{dir: dir})
		defer r.stop()
		if got := r.List(""); len(got) != 1 || got[0].URL != url || got[0].LastSuccessAt.IsZero() {
			t.Errorf("after a restart %+v", got)
		}
		if got := r.deliveries(a.ID); len(got) != 1 || got[0].State != Delivered || got[0].Count != 1 {
			t.Errorf("the log after a restart: %+v", got)
		}
		if err := r.Delete(t.Context(), a.ID); err != nil {
			t.Error(err)
		}
		r.book("b2", 11)
		r.wait(time.Minute)
		r.wantLines("after it was deleted")
	})
}

func TestWrongRequestsChangeNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		w := r.hook("a", owner, BookingCreated)
		ftp, failing := "ftp://x", Failing
		for what, c := range map[string]struct {
			err   error
			code  problem.Code
			field string
		}{
			"create":            {errOf(r.Create(t.Context(), Request{OrganizationID: another, URL: "https://127.0.0.1/"})), problem.Invalid, "url"},
			"private":           {errOf(r.Create(t.Context(), Request{OrganizationID: another, URL: "https://10.0.0.1/"})), problem.Invalid, "url"},
			"no organization":   {errOf(r.Create(t.Context(), Request{})), problem.Invalid, "organization_id"},
			"unknown owner":     {errOf(r.Create(t.Context(), Request{OrganizationID: "x", URL: "https://a.example.com/", Events: Events()})), problem.Invalid, "organization_id"},
			"change":            {second(r.Change(t.Context(), w.ID, Change{URL: &ftp})), problem.Invalid, "url"},
			"state":             {second(r.Change(t.Context(), w.ID, Change{State: &failing})), problem.Invalid, "state"},
			"rotate":            {errOf(r.Rotate(t.Context(), w.ID, "short", 0)), problem.Invalid, "secret"},
			"overlap":           {errOf(r.Rotate(t.Context(), w.ID, "", -1)), problem.Invalid, "overlap"},
			"unknown":           {second(r.Get("x")), problem.NotFound, "id"},
			"unknown change":    {second(r.Change(t.Context(), "x", Change{})), problem.NotFound, "id"},
			"unknown delete":    {r.Delete(t.Context(), "x"), problem.NotFound, "id"},
			"unknown rotate":    {errOf(r.Rotate(t.Context(), "x", "", 0)), problem.NotFound, "id"},
			"unknown test":      {second(r.Test(t.Context(), "x")), problem.NotFound, "id"},
			"unknown log":       {errOf(r.Deliveries("x", 0, "")), problem.NotFound, "id"},
			"unknown redeliver": {second(r.Redeliver(t.Context(), "x", "y")), problem.NotFound, "id"},
			"unknown delivery":  {second(r.Redeliver(t.Context(), w.ID, "y")), problem.NotFound, "delivery_id"},
		} {
			if e := problem.As(c.err); e == nil || e.Code != c.code || e.Field != c.field {
				t.Errorf("%s: %v, want %s of %s", what, c.err, c.code, c.field)
			}
		}
		if got := r.List(""); len(got) != 1 || got[0].URL != w.URL || got[0].State != Active {
			t.Errorf("webhooks %+v", got)
		}
		for i := range maxWebhooksOfOrg {
			if _, _, err := r.Create(t.Context(), Request{OrganizationID: another, URL: "https://a.example.com", Events: Events()}); err != nil {
				t.Fatal(i, err)
			}
		}
		if err := errOf(r.Create(t.Context(), Request{OrganizationID: another, URL: "https://a.example.com", Events: Events()})); problem.As(err).Code != problem.Full {
			t.Errorf("one too many: %v", err)
		}
	})
}

func errOf[A, B any](_ A, _ B, err error) error { return err }
func second[A any](_ A, err error) error        { return err }

func TestRotationSignsTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		w, made, err := r.Create(t.Context(), Request{OrganizationID: owner, URL: "https://a.example.com", Events: Events()})
		if err != nil || !strings.HasPrefix(made, "whsec_") {
			t.Fatalf("made %q, %v", made, err)
		}
		rotated, next, err := r.Rotate(t.Context(), w.ID, "", Overlap)
		if err != nil || next == made || !strings.HasPrefix(next, "whsec_") || !rotated.RotatesUntil.Equal(on(24, 0)) {
			t.Fatalf("rotated to %q until %v, %v", next, rotated.RotatesUntil, err)
		}
		r.stop()
		r = startRig(t, rigOptions{dir: dir})
		defer r.stop()
		for _, c := range []struct {
			at       time.Time
			old, new bool
		}{{on(1, 0), true, true}, {on(25, 0), false, true}} {
			r.wait(time.Until(c.at))
			if d, err := r.Test(t.Context(), w.ID); err != nil || d.State != Delivered {
				t.Fatalf("test: %+v, %v", d, err)
			}
			for _, p := range r.out.Take() {
				for secret, good := range map[string]bool{made: c.old, next: c.new} {
					lib, _ := standard.NewWebhook(secret)
					if err := lib.Verify(p.Body, p.Header); (err == nil) != good {
						t.Errorf("at %v: %v, want good to be %v", c.at, err, good)
					}
				}
			}
		}
		if now := r.state(w.ID); !now.RotatesUntil.IsZero() {
			t.Errorf("still rotating: %v", now.RotatesUntil)
		}
	})
}

func TestNothingOfAWebhookLeaks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		w := r.hook("a", owner, Events()...)
		r.out.Always(410, "")
		r.book("b1", 10)
		r.wait(time.Second)
		if _, err := r.Test(t.Context(), w.ID); err != nil {
			t.Error(err)
		}
		shown, err := json.Marshal([]any{r.state(w.ID), r.List(""), r.deliveries(w.ID)})
		if err != nil {
			t.Fatal(err)
		}
		events := r.found(eventDisabled)
		if len(events) != 1 || !strings.Contains(string(events[0].Record), "a.example.com") {
			t.Errorf("events %+v", events)
		}
		r.stop()
		for _, text := range []string{string(shown), r.said.String(), string(events[0].Record)} {
			if strings.Contains(text, "secret of") {
				t.Errorf("a secret shows in %s", text)
			}
		}
		if text := r.said.String() + string(events[0].Record); strings.Contains(text, "hidden") || !strings.Contains(text, "disabled") {
			t.Errorf("the address shows, or nothing, in %s", text)
		}
	})
}

func TestSummary(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		if s := r.Summary(); s.Active+s.Failing+s.Disabled+s.Waiting != 0 || s.OldestS != 0 || s.Troubled == nil {
			t.Errorf("without webhooks: %+v", s)
		}
		w := r.hook("a", owner, BookingCreated)
		r.hook("b", owner, BookingEnd)
		off := Disabled
		_, err := r.Change(t.Context(), r.hook("c", owner, BookingEnd).ID, Change{State: &off})
		r.must(err)
		r.out.Always(500, "")
		r.book("b1", 40)
		r.wait(27 * time.Hour)
		r.book("b2", 41)
		r.wait(20 * time.Second)
		r.book("b3", 42)
		r.wait(10 * time.Second)
		s := r.Summary()
		if len(s.Troubled) != 1 {
			t.Fatalf("%+v", s)
		}
		goldentest.Values(t, "the summary", goldentest.Pairs{"Active": {s.Active, 1}, "Failing": {s.Failing, 1}, "Disabled": {s.Disabled, 1},
			"Waiting": {s.Waiting, 2}, "OldestS": {s.OldestS, 30}, "Troubled[0].ID": {s.Troubled[0].ID, w.ID},
			"Troubled[0].Host": {s.Troubled[0].Host, "a.example.com"}, "no Troubled[0].Reason": {s.Troubled[0].Reason == "", false}})
	})
}
