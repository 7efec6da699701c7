package agent

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/goldentest"
	"roomgate/agent/message"
	"roomgate/agent/schedule"
)

// A message is stored with its row in one transaction, and each way says how
// far it is.
func TestMessageGoesBothWays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, _ := openHeaven(t)
		var open atomic.Bool
		r := startMessageRig(t, rigOptions{yaml: "cloud: {url: 'mqtt://cloud', acks: broker}\n" + reachable, dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if !open.Load() {
				return nil, errors.New("no route")
			}
			return h.dial(ctx, network, address)
		}}, "")
		r.fails(503, "")
		m := r.send(message.To{Email: "MEL@example.com"}, "first")
		goldentest.Values(t, "the message", goldentest.Pairs{"To.UserID": {m.To.UserID, "mel"}, "To.Email": {m.To.Email, "mel@example.com"},
			"OrganizationID": {m.OrganizationID, org}, "Priority": {m.Priority, message.Normal},
			"ExpiresAt": {m.ExpiresAt.Equal(m.CreatedAt.Add(message.UsualLife)), true}})
		if c := m.Channels; c.Cloud.State != message.Queued || c.Cloud.Reason == "" || c.Push.State != message.Queued {
			t.Errorf("at first: %+v", c)
		}
		if rows := r.logged("message"); len(rows) != 1 {
			t.Fatalf("%d rows", len(rows))
		}
		r.wait(time.Second)
		r.wantPush("the gateway is down", m.ID, message.Queued, "503")
		r.out.Script(nil)
		open.Store(true)
		r.wait(10 * time.Minute)
		if c := r.now(m.ID).Channels; c.Cloud.State != message.Sent || c.Push.State != message.Sent || c.Push.Attempts < 2 {
			t.Errorf("at last: %+v", c)
		}
		up := h.taken("message")
		var said message.Message
		if len(up) != 1 || json.Unmarshal(up[0].Data, &said) != nil {
			t.Fatalf("the cloud was told %+v", up)
		}
		goldentest.Values(t, "the cloud was told", goldentest.Pairs{"Type": {up[0].Type, "roomgate.message"},
			"ID":   {said.ID, m.ID},
			"Body": {said.Body, "hello"}})
		if got := r.out.Taken(); len(got) != 1 {
			t.Errorf("pushed: %+v", got)
		} else {
			goldentest.Values(t, "pushed", goldentest.Pairs{"Topic": {got[0].Topic, "rooms-mel"}, "Message": {got[0].Message, "hello"},
				"Priority": {got[0].Priority, 3}, "Sequence": {got[0].Sequence, m.ID}})
		}
		if strings.Contains(r.log.String(), pushToken) || strings.Contains(r.log.String(), "hello") {
			t.Errorf("the log tells too much: %s", r.log)
		}
	})
}

// TestMessageFindsItsReader asks who people are: users of the configuration, who
// are enabled, and organizers of bookings.
func TestMessageFindsItsReader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startMessageRig(t, rigOptions{yaml: "cloud: {url: 'mqtt://cloud'}\n" + reachable, dial: (&heaven{down: true}).dial}, "")
		b := meeting("board", on(9, 0), on(10, 0))
		b.Organizer = booking.Person{Name: "Mel", Email: "mel@example.com"}
		if _, _, err := r.Bookings.Create(t.Context(), b, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.book("nobodys", on(11, 0), on(12, 0))
		for _, c := range []struct {
			to                         message.To
			owner, topic, field, inOrg string
		}{
			{message.To{UserID: "ada"}, "", "ada-phone", "", ""},
			{message.To{UserID: "mel"}, org, "rooms-mel", "", org},
			{message.To{UserID: "bob"}, org, "", "to.user_id", ""}, // as if there was none
			{message.To{UserID: "off"}, "", "", "to.user_id", ""},
			{message.To{Email: "bob@example.com"}, org, "", "", org}, // a stranger to this organization
			{message.To{Email: "bob@example.com"}, "", "rooms-bob", "", otherOrg},
			{message.To{Email: "off@example.com"}, "", "", "", ""},
			{message.To{BookingID: "board"}, "", "rooms-mel", "", org},
			{message.To{BookingID: "nobodys"}, "", "", "to.booking_id", ""},
			{message.To{BookingID: "none"}, "", "", "to.booking_id", ""},
			{message.To{Topic: "rooms-mel"}, org, "rooms-mel", "", org},
			{message.To{Topic: "rooms-bob"}, org, "", "to.topic", ""},
		} {
			asked := hello(c.to, "x")
			asked.OrganizationID = c.owner
			before := len(r.out.Taken())
			m, err := r.Messages.Send(t.Context(), asked, "")
			if field := fieldIn(err); field != c.field {
				t.Errorf("%+v: %v, want a problem with %q", c, err, c.field)
			}
			if err != nil {
				continue
			}
			r.wait(time.Second)
			got, state := r.out.Taken()[before:], message.Sent
			if c.topic == "" {
				state = message.Unused
			} else if len(got) != 1 || got[0].Topic != c.topic {
				t.Errorf("%+v: pushed %+v", c, got)
			}
			if now := r.now(m.ID); now.Channels.Push.State != state || now.OrganizationID != c.inOrg {
				t.Errorf("%+v: %+v", c, now)
			}
		}
	})
}

func fieldIn(err error) string {
	if err == nil {
		return ""
	}
	return device.AsError(err).Field
}

// The organizer is told of what the building decides, in the transaction of the
// decision, and not of what the cloud decides.
func TestOrganizerIsTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startMessageRig(t, rigOptions{}, "")
		for i, id := range []string{"noshow", "loser", "taken-back"} {
			b := meeting(id, on(9+2*i, 0), on(10+2*i, 0))
			b.Organizer = booking.Person{Name: "Mel", Email: "mel@example.com"}
			if _, _, err := r.Bookings.Create(t.Context(), b, schedule.Caller{}); err != nil {
				t.Fatal(err)
			}
		}
		r.book("nobodys", on(8, 0), on(8, 30))
		r.take(said("1", "snapshot", 1, slot("rival", on(11, 30), on(12, 30), `"cloud_revision":1`)))
		if _, err := r.Bookings.Cancel(t.Context(), "taken-back", schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		mels := `"organizer":{"email":"mel@example.com"}`
		r.take(said("2", "delta", 2, slot("theirs", on(20, 0), on(21, 0), mels)))
		r.take(said("3", "delta", 3, slot("theirs", on(20, 0), on(21, 0), mels, `"state":"displaced"`, `"revision":2`)))
		if got := r.booking("theirs").State; got != booking.Displaced {
			t.Errorf("what the cloud has displaced is %s", got)
		}
		r.until(on(9, 11))
		want := []string{"rooms-mel Aurora: your booking lost its room", "rooms-mel Aurora: your booking was released"}
		if got := r.pushed(); !slices.Equal(got, want) {
			t.Fatalf("told %q, want %q", got, want)
		}
		last := r.out.Taken()[1]
		if last.Message != "Sat 1 Jan 09:00-10:00 UTC: nobody checked in and the room is not watched" || last.Priority != 4 {
			t.Errorf("%+v", last)
		}
		if rows := r.logged("message"); len(rows) != 2 {
			t.Errorf("%d rows", len(rows))
		}
		page, _, err := r.Messages.List(org, 10, "")
		if err != nil || len(page) != 2 || page[0].Source != message.FromBooking {
			t.Errorf("%+v, %v", page, err)
		}
	})
}

// Unless the configuration wants it nobody is told, and nothing but the booking
// changes.
func TestOrganizerIsNotToldByDefault(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startMessageRig(t, rigOptions{yaml: strings.Replace(reachable, "organizers: true", "organizers: false", 1)}, "")
		b := meeting("noshow", on(9, 0), on(10, 0))
		b.Organizer = booking.Person{Name: "Mel", Email: "mel@example.com"}
		if _, _, err := r.Bookings.Create(t.Context(), b, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.until(on(9, 11))
		if got := r.booking("noshow").State; got != booking.Released || len(r.out.Taken()) != 0 || len(r.logged("message")) != 0 {
			t.Errorf("%s, told %q", got, r.pushed())
		}
	})
}
