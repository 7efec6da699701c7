package webhook

import (
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"roomgate/agent/eventlog"
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
			if len(got) != 1 || got[0].Host != "all.example.com" || got[0].Event != DeviceAlert || got[0].Data["alert"] != kind || got[0].Data["device"] != "temperature" ||
				got[0].Data["organization_id"] != owner || got[0].Data["device_id"] != "hub-1" || got[0].Data["details"].(map[string]any)["temperature"] != 31.5 {
				t.Errorf("%s came as %+v", kind, got)
			}
			alert.Space = "gone"
			r.happens(alert)
			r.wait(time.Millisecond)
			r.wantLines("of a space that is gone")
		}
	})
}
