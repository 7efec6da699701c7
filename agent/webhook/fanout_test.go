package webhook

import (
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"roomgate/agent/eventlog"
	"roomgate/agent/goldentest"
)

// TestEventsGoToTheirOrganization, exactly as the platform writes them.
func TestEventsGoToTheirOrganization(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		r.book("before", 9)
		all := r.hook("all", owner, Events()...)
		r.hook("some", owner, BookingCancelled)
		r.hook("other", another, Events()...)
		r.book("b1", 10)
		r.wait(time.Millisecond)
		got := r.out.Take()
		if len(got) != 1 {
			t.Fatalf("%d notifications, want one", len(got))
		}
		want := `{"event":"booking.created","timestamp":"2000-01-01T00:00:00.000Z","webhook_id":"` + all.ID + `","data":{"booking_id":"b1","meeting_space_id":"` + room +
			`","organization_id":"` + owner + `","start_time":"2000-01-01T10:00:00.000Z","end_time":"2000-01-01T10:30:00.000Z","organizer":{"name":"Ada","email":"ada@example.com"}}}`
		if string(got[0].Body) != want {
			t.Errorf("came\n%s, want\n%s", got[0].Body, want)
		}
		if lib, _ := standard.NewWebhookRaw([]byte("the secret of all")); lib.Verify(got[0].Body, got[0].Header) != nil {
			t.Errorf("the signature is not good: %v", got[0].Header)
		}
		r.happens(booked(BookingCancelled, "b1", owner, 10))
		r.wait(time.Millisecond)
		r.wantLines("cancelled", "all booking.cancelled b1", "some booking.cancelled b1")
		r.happens(booked(BookingCreated, "b2", another, 11))
		r.wait(time.Millisecond)
		r.wantLines("the other organization's", "other booking.created b2")
		r.happens(booked(BookingCreated, "b3", "", 11))
		r.wait(time.Millisecond)
		r.wantLines("nobody's", "all booking.created b3", "other booking.created b3")
		r.happens(eventlog.Record{Type: "ruleFailed", Space: room})
		r.wait(time.Millisecond)
		r.wantLines("what no webhook gets")
	})
}

// TestAlertsGoToTheOwnerOfTheSpace, and to nobody once it is gone.
func TestAlertsGoToTheOwnerOfTheSpace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		r.hook("all", owner, DeviceAlert)
		r.hook("other", another, DeviceAlert)
		for _, kind := range alerts {
			alert := eventlog.Record{Type: kind, Space: room, Device: "temperature", DeviceID: "hub-1", Details: map[string]any{"temperature": 31.5}}
			r.happens(alert)
			r.wait(time.Millisecond)
			got := r.out.Take()
			if len(got) != 1 {
				t.Fatalf("%s came as %+v", kind, got)
			}
			goldentest.Values(t, kind, goldentest.Pairs{"Host": {got[0].Host, "all.example.com"}, "Event": {got[0].Event, DeviceAlert},
				"alert": {got[0].Data["alert"], kind}, "device": {got[0].Data["device"], "temperature"},
				"organization_id": {got[0].Data["organization_id"], owner}, "device_id": {got[0].Data["device_id"], "hub-1"},
				"temperature": {got[0].Data["details"].(map[string]any)["temperature"], 31.5}})
			alert.Space = "gone"
			r.happens(alert)
			r.wait(time.Millisecond)
			r.wantLines("of a space that is gone")
		}
	})
}

// Who has the platform's four events only hears of a booking that was given up, once:
// as cancelled before its start, as ended after it.
func TestGivenUpByThePlatformsNames(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		r.hook("four", owner, BookingCreated, BookingStart, BookingEnd, BookingCancelled)
		r.hook("all", owner, Events()...)
		r.hook("released", owner, BookingReleased)
		for _, c := range []struct {
			event, id string
			hour      int
			want      []string
		}{
			{BookingDisplaced, "b1", 10, []string{"all booking.displaced b1", "four booking.cancelled b1"}},
			{BookingReleased, "b2", 10, []string{"all booking.released b2", "four booking.cancelled b2", "released booking.released b2"}},
			{BookingDisplaced, "b3", 0, []string{"all booking.displaced b3", "four booking.end b3"}},
			{BookingReleased, "b4", 0, []string{"all booking.released b4", "four booking.end b4", "released booking.released b4"}},
			{BookingUpdated, "b5", 10, []string{"all booking.updated b5"}},
		} {
			r.happens(booked(c.event, c.id, owner, c.hour))
			r.wait(time.Millisecond)
			r.wantLines(c.event, c.want...)
		}
	})
}
