package agent

import (
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/agent/goldentest"
	"roomgate/agent/schedule"
	"roomgate/agent/webhook"
	"roomgate/drivers"
	"roomgate/store"
)

func TestBookingsAreToldToTheirOrganization(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t)
		defer r.stop()
		r.book("before", on(9, 0), on(9, 30))
		all := r.hook("all", owner, webhook.Events()...)
		r.hook("some", owner, webhook.BookingCancelled)
		r.hook("other", another, webhook.Events()...)

		if _, _, err := r.Bookings.Create(t.Context(), booking.Booking{ID: "b1", SpaceID: room, Title: "Secret plan", Organizer: booking.Person{Name: "Ada", Email: "ada@example.com"},
			Start: on(10, 0), End: on(10, 30)}, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Millisecond)
		got := r.out.Take()
		if len(got) != 1 {
			t.Fatalf("%d notifications, want one", len(got))
		}
		p := got[0]
		want := `{"event":"booking.created","timestamp":"2000-01-01T00:00:00.000Z","webhook_id":"` + all.ID + `","data":{"booking_id":"b1","meeting_space_id":"` + room +
			`","organization_id":"` + owner + `","start_time":"2000-01-01T10:00:00.000Z","end_time":"2000-01-01T10:30:00.000Z","organizer":{"name":"Ada","email":"ada@example.com"}}}`
		if string(p.Body) != want {
			t.Errorf("told\n%s, want\n%s", p.Body, want)
		}
		if lib, _ := standard.NewWebhookRaw([]byte("the secret of all")); lib.Verify(p.Body, p.Header) != nil {
			t.Errorf("the signature is not good: %v", p.Header)
		}

		if _, err := r.Bookings.Cancel(t.Context(), "b1", schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Millisecond)
		r.wantLines("cancelled", "all booking.cancelled b1", "some booking.cancelled b1")

		for _, b := range []booking.Booking{
			{ID: "b2", SpaceID: room, OrganizationID: another, Start: on(11, 0), End: on(11, 30)},
			{ID: "b3", SpaceID: otherRoom, Private: true, Organizer: booking.Person{Name: "Eve"}, Start: on(11, 0), End: on(11, 30)},
		} {
			if _, _, err := r.Bookings.Create(t.Context(), b, schedule.Caller{}); err != nil {
				t.Fatal(err)
			}
		}
		r.wait(time.Millisecond)
		var told []string
		for _, p := range r.out.Take() {
			switch {
			case p.Data["booking_id"] == "b2" && p.Host != "other.example.com":
				t.Errorf("%s was told of another's booking", p.Host)
			case p.Data["booking_id"] == "b3" && strings.Contains(string(p.Body), "Eve"):
				t.Errorf("who organizes a private meeting was told: %s", p.Body)
			}
			told = append(told, p.Host)
		}
		if len(told) != 3 {
			t.Errorf("nobody's booking is told to all: %q", told)
		}
	})
}

func TestAlertsOfDevicesAreTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t)
		defer r.stop()
		r.hook("all", owner, webhook.DeviceAlert)
		r.wait(10 * time.Minute)
		r.wantLines("nothing is wrong")
		r.bench["hub-1"].show("temperature", "31.5")
		r.wait(10 * time.Minute)
		got := r.out.Take()
		if len(got) != 1 {
			t.Fatalf("told %+v", got)
		}
		goldentest.Values(t, "told", goldentest.Pairs{"Event": {got[0].Event, webhook.DeviceAlert},
			"alert": {got[0].Data["alert"], "temperatureAlert"}, "device": {got[0].Data["device"], "temperature"},
			"organization_id": {got[0].Data["organization_id"], owner}, "device_id": {got[0].Data["device_id"], "hub-1"},
			"temperature": {got[0].Data["details"].(map[string]any)["temperature"], 31.5}})
		for _, kind := range []string{drivers.EventDoorForced, drivers.EventDoorHeldOpen} {
			err := r.Events.Update(t.Context(), func(tx *store.Tx) error {
				return r.Events.Tell(tx, eventlog.Record{Type: kind, Time: r.Now(), Space: room, Device: "lock", DeviceID: "lock-1"})
			})
			r.wait(time.Minute)
			if got := r.out.Take(); err != nil || len(got) != 1 {
				t.Errorf("%s: sent %+v, %v", kind, got, err)
			}
		}
	})
}

// TestOwnerIsToldOfASpaceThatGoes: its bookings name no organization, and when
// webhooks are told the space is not there to be asked.
func TestOwnerIsToldOfASpaceThatGoes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t)
		defer r.stop()
		if got := r.configure("m1", 1, `"spaces":[{"id":"`+newRoom+`","name":"Corona","organization_id":"`+owner+`"}]`); got != "done" {
			t.Fatal(got)
		}
		r.hook("all", owner, webhook.BookingCancelled)
		r.hook("other", another, webhook.BookingCancelled)
		if _, _, err := r.Bookings.Create(t.Context(), booking.Booking{ID: "b1", SpaceID: newRoom, Start: on(10, 0), End: on(10, 30)}, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		if got := r.configure("m2", 2, `"spaces":[]`); got != "done" {
			t.Fatal(got)
		}
		r.wait(time.Millisecond)
		r.wantLines("the space is gone", "all booking.cancelled b1")

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
		r.wantLines("an alert of nobody knows whom")
	})
}
