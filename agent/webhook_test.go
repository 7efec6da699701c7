package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/agent/webhook"
	"roomgate/drivers"
	"roomgate/store"
)

func TestBookingsAreToldToTheirOrganization(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t, "", "")
		defer r.stop()
		r.book("before", on(9, 0), on(9, 30))
		all := r.hook("all", owner, webhook.Events()...)
		r.hook("some", owner, webhook.BookingCancelled)
		r.hook("other", another, webhook.Events()...)

		if _, _, err := r.CreateBooking(t.Context(), booking.Booking{ID: "b1", SpaceID: room, Title: "Secret plan", Organizer: booking.Person{Name: "Ada", Email: "ada@example.com"},
			Start: on(10, 0), End: on(10, 30)}, BookingOptions{}); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Millisecond)
		got := r.out.take()
		if len(got) != 1 {
			t.Fatalf("%d notifications, want one", len(got))
		}
		p := got[0]
		want := `{"event":"booking.created","timestamp":"2000-01-01T00:00:00.000Z","webhook_id":"` + all.ID + `","data":{"booking_id":"b1","meeting_space_id":"` + room +
			`","organization_id":"` + owner + `","start_time":"2000-01-01T10:00:00.000Z","end_time":"2000-01-01T10:30:00.000Z","organizer":{"name":"Ada","email":"ada@example.com"}}}`
		if string(p.body) != want {
			t.Errorf("told\n%s, want\n%s", p.body, want)
		}
		if lib, _ := standard.NewWebhookRaw([]byte("the secret of all")); lib.Verify(p.body, p.header) != nil {
			t.Errorf("the signature is not good: %v", p.header)
		}

		if _, err := r.CancelBooking(t.Context(), "b1", BookingOptions{}); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Millisecond)
		told := r.out.told()
		slices.Sort(told)
		sameTold(t, "cancelled", told, "all booking.cancelled b1", "some booking.cancelled b1")

		for _, b := range []booking.Booking{
			{ID: "b2", SpaceID: room, OrganizationID: another, Start: on(11, 0), End: on(11, 30)},
			{ID: "b3", SpaceID: otherRoom, Private: true, Organizer: booking.Person{Name: "Eve"}, Start: on(11, 0), End: on(11, 30)},
		} {
			if _, _, err := r.CreateBooking(t.Context(), b, BookingOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		r.wait(time.Millisecond)
		for _, p := range r.out.take() {
			switch {
			case p.data["booking_id"] == "b2" && p.host != "other.example.com":
				t.Errorf("%s was told of another's booking", p.host)
			case p.data["booking_id"] == "b3" && strings.Contains(string(p.body), "Eve"):
				t.Errorf("who organizes a private meeting was told: %s", p.body)
			}
			told = append(told, p.host)
		}
		if len(told) != 2+3 {
			t.Errorf("nobody's booking is told to all: %q", told)
		}
	})
}

func TestAlertsOfDevicesAreTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t, "", "")
		defer r.stop()
		r.hook("all", owner, webhook.DeviceAlert)
		r.wait(10 * time.Minute)
		sameTold(t, "nothing is wrong", r.out.told())
		r.bench["hub-1"].show("temperature", "31.5")
		r.wait(10 * time.Minute)
		got := r.out.take()
		if len(got) != 1 || got[0].Event != webhook.DeviceAlert || got[0].data["alert"] != "temperatureAlert" || got[0].data["device"] != "temperature" ||
			got[0].data["organization_id"] != owner || got[0].data["device_id"] != "hub-1" || got[0].data["details"].(map[string]any)["temperature"] != 31.5 {
			t.Errorf("told %+v", got)
		}
	})
}

func TestWebhooksAreKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startHookRig(t, dir, "")
		a, b := r.hook("a", owner, webhook.BookingCreated), r.hook("b", another, webhook.BookingEnd)
		if got := r.Webhooks(""); len(got) != 2 || got[0].ID != a.ID || got[1].ID != b.ID {
			t.Errorf("webhooks %+v", got)
		}
		if got := r.Webhooks(another); len(got) != 1 || got[0].ID != b.ID {
			t.Errorf("webhooks of one organization %+v", got)
		}
		url, events, off := "https://new.example.com/", []string{webhook.BookingCreated, webhook.BookingCancelled}, webhook.Disabled
		changed, err := r.ChangeWebhook(t.Context(), a.ID, webhook.Change{URL: &url, Events: &events})
		if err != nil || changed.URL != url || len(changed.Events) != 2 {
			t.Errorf("changed to %+v, %v", changed, err)
		}
		if _, err := r.ChangeWebhook(t.Context(), b.ID, webhook.Change{State: &off}); err != nil {
			t.Error(err)
		}
		r.book("b1", on(10, 0), on(10, 30))
		r.wait(time.Second)
		sameTold(t, "told", r.out.told(), "new booking.created b1")
		if err := r.DeleteWebhook(t.Context(), b.ID); err != nil {
			t.Error(err)
		}
		r.stop()

		r = startHookRig(t, dir, "")
		defer r.stop()
		if got := r.Webhooks(""); len(got) != 1 || got[0].URL != url || got[0].LastSuccessAt.IsZero() {
			t.Errorf("after a restart %+v", got)
		}
		if got := r.deliveries(a.ID); len(got) != 1 || got[0].State != webhook.Delivered || got[0].Count != 1 {
			t.Errorf("the log after a restart: %+v", got)
		}
		if err := r.DeleteWebhook(t.Context(), a.ID); err != nil {
			t.Error(err)
		}
		r.book("b2", on(11, 0), on(11, 30))
		r.wait(time.Minute)
		sameTold(t, "after it was deleted", r.out.told())
	})
}

func TestWrongRequestsChangeNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t, "", "")
		defer r.stop()
		w := r.hook("a", owner, webhook.BookingCreated)
		ftp, failing := "ftp://x", webhook.Failing
		for what, c := range map[string]struct {
			err   error
			code  Code
			field string
		}{
			"create":            {errOf(r.CreateWebhook(t.Context(), webhook.Request{OrganizationID: another, URL: "https://127.0.0.1/"})), Invalid, "url"},
			"private":           {errOf(r.CreateWebhook(t.Context(), webhook.Request{OrganizationID: another, URL: "https://10.0.0.1/"})), Invalid, "url"},
			"no organization":   {errOf(r.CreateWebhook(t.Context(), webhook.Request{})), Invalid, "organization_id"},
			"unknown owner":     {errOf(r.CreateWebhook(t.Context(), webhook.Request{OrganizationID: "x", URL: "https://a.example.com/", Events: webhook.Events()})), Invalid, "organization_id"},
			"change":            {second(r.ChangeWebhook(t.Context(), w.ID, webhook.Change{URL: &ftp})), Invalid, "url"},
			"state":             {second(r.ChangeWebhook(t.Context(), w.ID, webhook.Change{State: &failing})), Invalid, "state"},
			"rotate":            {errOf(r.RotateSecret(t.Context(), w.ID, "short", 0)), Invalid, "secret"},
			"overlap":           {errOf(r.RotateSecret(t.Context(), w.ID, "", -1)), Invalid, "overlap"},
			"unknown":           {second(r.Webhook("x")), NotFound, "id"},
			"unknown change":    {second(r.ChangeWebhook(t.Context(), "x", webhook.Change{})), NotFound, "id"},
			"unknown delete":    {r.DeleteWebhook(t.Context(), "x"), NotFound, "id"},
			"unknown rotate":    {errOf(r.RotateSecret(t.Context(), "x", "", 0)), NotFound, "id"},
			"unknown test":      {second(r.TestWebhook(t.Context(), "x")), NotFound, "id"},
			"unknown log":       {errOf(r.Deliveries("x", 0, "")), NotFound, "id"},
			"unknown redeliver": {second(r.Redeliver(t.Context(), "x", "y")), NotFound, "id"},
			"unknown delivery":  {second(r.Redeliver(t.Context(), w.ID, "y")), NotFound, "delivery_id"},
		} {
			if e := AsError(c.err); e == nil || e.Code != c.code || e.Field != c.field {
				t.Errorf("%s: %v, want %s of %s", what, c.err, c.code, c.field)
			}
		}
		if got := r.Webhooks(""); len(got) != 1 || got[0].URL != w.URL || got[0].State != webhook.Active {
			t.Errorf("webhooks %+v", got)
		}
		for i := range maxWebhooksOfOrg {
			if _, _, err := r.CreateWebhook(t.Context(), webhook.Request{OrganizationID: another, URL: "https://a.example.com", Events: webhook.Events()}); err != nil {
				t.Fatal(i, err)
			}
		}
		if err := errOf(r.CreateWebhook(t.Context(), webhook.Request{OrganizationID: another, URL: "https://a.example.com", Events: webhook.Events()})); AsError(err).Code != Full {
			t.Errorf("one too many: %v", err)
		}
	})
}

func errOf[A, B any](_ A, _ B, err error) error { return err }
func second[A any](_ A, err error) error        { return err }

func TestRotationSignsTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startHookRig(t, dir, "")
		w, made, err := r.CreateWebhook(t.Context(), webhook.Request{OrganizationID: owner, URL: "https://a.example.com", Events: webhook.Events()})
		if err != nil || !strings.HasPrefix(made, "whsec_") {
			t.Fatalf("made %q, %v", made, err)
		}
		rotated, next, err := r.RotateSecret(t.Context(), w.ID, "", webhook.Overlap)
		if err != nil || next == made || !strings.HasPrefix(next, "whsec_") || !rotated.RotatesUntil.Equal(on(24, 0)) {
			t.Fatalf("rotated to %q until %v, %v", next, rotated.RotatesUntil, err)
		}
		r.stop()
		r = startHookRig(t, dir, "")
		defer r.stop()
		for _, c := range []struct {
			at       time.Time
			old, new bool
		}{{on(1, 0), true, true}, {on(25, 0), false, true}} {
			r.until(c.at)
			if d, err := r.TestWebhook(t.Context(), w.ID); err != nil || d.State != webhook.Delivered {
				t.Fatalf("test: %+v, %v", d, err)
			}
			for _, p := range r.out.take() {
				for secret, good := range map[string]bool{made: c.old, next: c.new} {
					lib, _ := standard.NewWebhook(secret)
					if err := lib.Verify(p.body, p.header); (err == nil) != good {
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
		r := startHookRig(t, "", "")
		w := r.hook("a", owner, webhook.Events()...)
		r.out.always(410, "")
		r.book("b1", on(10, 0), on(10, 30))
		r.wait(time.Second)
		if _, err := r.TestWebhook(t.Context(), w.ID); err != nil {
			t.Error(err)
		}
		shown, err := json.Marshal([]any{r.state(w.ID), r.Webhooks(""), r.deliveries(w.ID)})
		if err != nil {
			t.Fatal(err)
		}
		events, _, err := r.Events.Find(eventlog.Filter{Limit: 100, Type: webhookDisabled})
		if err != nil || len(events) != 1 || !strings.Contains(string(events[0].Record), "a.example.com") {
			t.Errorf("events %+v, %v", events, err)
		}
		r.stop()
		for _, text := range []string{string(shown), r.log.String(), string(events[0].Record)} {
			if strings.Contains(text, "secret of") {
				t.Errorf("a secret shows in %s", text)
			}
		}
		if text := r.log.String() + string(events[0].Record); strings.Contains(text, "hidden") || !strings.Contains(text, "disabled") {
			t.Errorf("the address shows, or nothing, in %s", text)
		}
	})
}

// TestOwnerIsToldOfASpaceThatGoes: its bookings name no organization, and when
// webhooks are told the space is not there to be asked.
func TestOwnerIsToldOfASpaceThatGoes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t, "", "")
		defer r.stop()
		if got := r.configure("m1", 1, `"spaces":[{"id":"`+newRoom+`","name":"Corona","organization_id":"`+owner+`"}]`); got != "done" {
			t.Fatal(got)
		}
		r.hook("all", owner, webhook.BookingCancelled)
		r.hook("other", another, webhook.BookingCancelled)
		if _, _, err := r.CreateBooking(t.Context(), booking.Booking{ID: "b1", SpaceID: newRoom, Start: on(10, 0), End: on(10, 30)}, BookingOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := r.configure("m2", 2, `"spaces":[]`); got != "done" {
			t.Fatal(got)
		}
		r.wait(time.Millisecond)
		sameTold(t, "the space is gone", r.out.told(), "all booking.cancelled b1")

		r.hook("alerts", another, webhook.DeviceAlert)
		late, err := eventlog.Record{Type: "temperatureAlert", Time: r.Now(), Space: newRoom, Device: drivers.SubTemperature, DeviceID: "hub-9"}.Encode()
		if err == nil {
			err = r.db.Update(t.Context(), func(tx *store.Tx) error {
				return r.Events.Push(tx, r.Events.Row(eventlog.EventType("temperatureAlert"), r.Now(), newRoom, drivers.TypeO3, drivers.SubTemperature, late))
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		r.Events.Grow()
		r.wait(time.Millisecond)
		sameTold(t, "an alert of nobody knows whom", r.out.told())
	})
}
