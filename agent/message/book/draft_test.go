package book

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/agent/message"
	"roomgate/agent/problem"
	"roomgate/store"
)

// lost is a booking of somebody that has lost its room.
func lost(id, email string) Notice {
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	b := booking.Booking{ID: id, SpaceID: room, State: booking.Displaced, Start: at, End: at.Add(time.Hour), Reason: "another was first: 2026-11-23 09:30 to 10:00 UTC"}
	b.Organizer = booking.Person{Name: "Mel", Email: email}
	return Notice{Booking: b, SpaceID: room, Space: "Aurora", Zone: time.FixedZone("CET", 3600)}
}

// What the organizers are told is stored with the change, or not at all.
func TestNoticesAreOfTheSameTransaction(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		refused := errors.New("refused")
		notices := r.Notify(lost("b1", "mel@example.com"), lost("b2", ""), lost("b3", "stranger@example.com"))
		err := r.log.Commit(t.Context(), notices, eventlog.Stage{Write: func(*store.Tx) error { return refused }})
		r.wait(time.Second)
		if page, _, _ := r.List("", 10, ""); !errors.Is(err, refused) || len(page) != 0 || len(r.rows()) != 0 || len(r.pushed()) != 0 {
			t.Errorf("%v, %d messages, pushed %q", err, len(page), r.pushed())
		}
		if err := r.log.Commit(t.Context(), notices); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Second)
		if got := r.pushed(); !slices.Equal(got, []string{"rooms-mel Aurora: your booking lost its room"}) || len(r.rows()) != 1 {
			t.Errorf("%d rows, pushed %q", len(r.rows()), got)
		}
		if got := r.out.Taken()[0]; got.Message != "Mon 23 Nov 10:00-11:00 CET: another was first: Mon 23 Nov 10:30 to 11:00" || got.Priority != 4 {
			t.Errorf("%+v", got)
		}
		page, _, err := r.List(org, 10, "")
		if err != nil || len(page) != 1 || page[0].Source != message.FromBooking || page[0].SpaceID != room {
			t.Errorf("%+v, %v", page, err)
		}
		if !strings.Contains(r.text.String(), "b3") || strings.Contains(r.text.String(), "stranger@") {
			t.Errorf("the log: %s", r.text)
		}
	})
}

// A notice that the gateway's queue has no room for goes up to the cloud.
func TestNoticeWithoutRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{cloud: true})
		r.fails(503, "")
		for range MaxQueuedOfOrganization {
			r.send(message.To{UserID: "mel"}, "one organization")
		}
		if _, err := r.Draft(hello(message.To{UserID: "mel"}, "x")); problem.As(err) == nil || problem.As(err).Code != problem.Full {
			t.Errorf("a draft without room: %v", err)
		}
		if err := r.log.Commit(t.Context(), r.Notify(lost("b1", "mel@example.com"))); err != nil {
			t.Fatal(err)
		}
		page, _, err := r.List(org, 1, "")
		if err != nil || page[0].Channels.Push.State != message.Failed || page[0].Channels.Push.At.IsZero() || page[0].Channels.Cloud.State != message.Queued {
			t.Errorf("%+v, %v", page, err)
		}
	})
}

// Unless the configuration wants it nobody is told.
func TestNoNoticesByDefault(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.o.Organizers = false
		if err := r.log.Commit(t.Context(), r.Notify(lost("b1", "mel@example.com"))); err != nil || len(r.rows()) != 0 {
			t.Errorf("%v, %d rows", err, len(r.rows()))
		}
	})
}

func TestCheckRecipient(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		for _, c := range []struct {
			organization string
			to           message.To
			field        string
		}{
			{"", message.To{UserID: "bob"}, ""},
			{org, message.To{UserID: "mel"}, ""},
			{org, message.To{UserID: "bob"}, "to.user_id"},
			{org, message.To{Email: "bob@example.com"}, ""}, // as a stranger
			{org, message.To{Topic: "rooms-bob"}, "to.topic"},
			{"", message.To{Topic: "kitchen"}, ""},
		} {
			if err := r.CheckRecipient(c.organization, c.to); fieldIn(err) != c.field || (err == nil) != (c.field == "") {
				t.Errorf("%+v: %v", c, err)
			}
		}
	})
}

// What waits is the old gateway's to send, and its words are known.
func TestForget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		sent := r.send(message.To{UserID: "ada"}, "sent")
		r.wait(time.Second)
		r.fails(503, "")
		waits := r.send(message.To{UserID: "mel"}, "waits")
		r.wait(time.Second)
		r.stop()
		r = openRig(t, rigOptions{dir: dir})
		var words []string
		err := r.db.Update(t.Context(), func(tx *store.Tx) error {
			words = Words(tx, r.o.Keys)
			return Forget(tx)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"waits", "hello", "rooms-mel", "mel@example.com", "Mel", "mel"} {
			if !slices.Contains(words, word) {
				t.Errorf("the words %q lack %q", words, word)
			}
		}
		for id, want := range map[string]message.State{sent.ID: message.Sent, waits.ID: message.Expired} {
			if s, err := r.read(id); err != nil || s.Push.State != want {
				t.Errorf("%+v, %v, want %s", s.Push, err, want)
			}
		}
	})
}
