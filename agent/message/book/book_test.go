package book

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/goldentest"
	"roomgate/agent/message"
	"roomgate/agent/problem"
)

func TestMessageFindsItsReader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{cloud: true})
		for _, c := range []struct {
			to                         message.To
			owner, topic, field, inOrg string
		}{
			{message.To{UserID: "ada"}, "", "ada-phone", "", ""},
			{message.To{UserID: "mel"}, org, "rooms-mel", "", org},
			{message.To{UserID: "bob"}, org, "", "to.user_id", ""}, // as if there was none
			{message.To{UserID: "off"}, "", "", "to.user_id", ""},
			{message.To{UserID: "nobody"}, "", "", "to.user_id", ""},
			{message.To{Email: "bob@example.com"}, org, "", "", org}, // a stranger to this organization
			{message.To{Email: "bob@example.com"}, "", "rooms-bob", "", otherOrg},
			{message.To{Email: "off@example.com"}, "", "", "", ""},
			{message.To{Email: "guest@example.com"}, "", "", "", ""},
			{message.To{BookingID: "board"}, "", "rooms-mel", "", org},
			{message.To{BookingID: "nobodys"}, "", "", "to.booking_id", ""},
			{message.To{BookingID: "none"}, "", "", "to.booking_id", ""},
			{message.To{Topic: "kitchen"}, "", "kitchen", "", ""},
			{message.To{Topic: "rooms-mel"}, org, "rooms-mel", "", org},
			{message.To{Topic: "rooms-bob"}, org, "", "to.topic", ""},
		} {
			asked := hello(c.to, "x")
			asked.OrganizationID = c.owner
			before := len(r.out.Taken())
			m, err := r.Send(t.Context(), asked, "")
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

// The same request again is the same message, also after a restart; another one
// with its key is refused.
func TestMessageIsRepeatable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		first, err := r.Send(t.Context(), hello(message.To{UserID: "ada"}, "once"), "key")
		if err != nil {
			t.Fatal(err)
		}
		r.wait(time.Second)
		r.stop()
		r = startRig(t, rigOptions{dir: dir})
		again, err := r.Send(t.Context(), hello(message.To{UserID: "ada"}, "once"), "key")
		if err != nil || again.ID != first.ID || again.Channels.Push.State != message.Sent {
			t.Errorf("again: %+v, %v", again, err)
		}
		if _, err := r.Send(t.Context(), hello(message.To{UserID: "ada"}, "twice"), "key"); problem.As(err) == nil || problem.As(err).Code != problem.Conflict {
			t.Errorf("another one with its key: %v", err)
		}
		r.wait(time.Minute)
		if rows := r.rows(); len(rows) != 1 || len(r.out.Taken()) != 0 {
			t.Errorf("%d rows, pushed again %q", len(rows), r.pushed())
		}
	})
}

func TestMessageWithoutAWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{nobody: true})
		_, err := r.Send(t.Context(), hello(message.To{Email: "a@example.com"}, "x"), "")
		if e := problem.As(err); e == nil || e.Code != problem.Unavailable || !strings.Contains(e.Message, "push.url") {
			t.Errorf("%v", err)
		}
		if rows := r.rows(); len(rows) != 0 {
			t.Errorf("%d rows", len(rows))
		}
	})
}

func TestMessagesAreListed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		var want []string
		for i := range 7 {
			m := r.send(message.To{UserID: []string{"mel", "bob"}[i%2]}, fmt.Sprint(i))
			want = append([]string{m.Title}, want...)
		}
		titles := func(organization string, limit int) (all []string) {
			for cursor := ""; ; {
				page, next, err := r.List(organization, limit, cursor)
				if err != nil || len(page) > limit {
					t.Fatalf("%d, %v", len(page), err)
				}
				for _, m := range page {
					all = append(all, m.Title)
				}
				if cursor = next; cursor == "" {
					return all
				}
			}
		}
		if got := titles("", 3); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if got := titles(org, 2); !slices.Equal(got, []string{"6", "4", "2", "0"}) {
			t.Errorf("of one organization: %q", got)
		}
		if _, _, err := r.List("", 3, "?"); fieldIn(err) != "cursor" {
			t.Errorf("a cursor that is none: %v", err)
		}
	})
}

// What is done with is forgotten, oldest first; what waits is not, and there is
// an end to what may wait.
func TestMessagesAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.fails(503, "")
		var waits Info
		for i := range MaxQueued {
			m := r.send(message.To{UserID: []string{"ada", "ada", "ada", "mel"}[i%4]}, fmt.Sprint(i))
			if i == 0 {
				waits = m
			}
		}
		_, err := r.Send(t.Context(), hello(message.To{UserID: "ada"}, "too many"), "")
		if e := problem.As(err); e == nil || e.Code != problem.Full {
			t.Errorf("one too many: %v", err)
		}
		r.out.Script(nil)
		r.wait(10 * time.Minute)
		r.wantPush("the oldest", waits.ID, message.Sent, "")
		for i := range Keep {
			r.send(message.To{UserID: "ada"}, fmt.Sprint("later ", i))
			if i%100 == 0 {
				r.wait(10 * time.Second)
			}
		}
		r.wait(10 * time.Second)
		if n := len(r.index.list); n < Keep || n >= Keep+keepOver {
			t.Errorf("%d are remembered", n)
		}
		if _, err := r.Get(waits.ID); problem.As(err) == nil || problem.As(err).Code != problem.NotFound {
			t.Errorf("the oldest is still there: %v", err)
		}
		r.fails(503, "")
		for range MaxQueuedOfOrganization {
			r.send(message.To{UserID: "mel"}, "one organization")
		}
		if _, err := r.Send(t.Context(), hello(message.To{UserID: "mel"}, "its last"), ""); problem.As(err) == nil || problem.As(err).Code != problem.Full {
			t.Errorf("too many of one organization: %v", err)
		}
		r.send(message.To{UserID: "ada"}, "others have room")
	})
}

// A log that was full before the cloud took a message says so.
func TestMessageTheCloudNeverGot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{cloud: true, rows: 100})
		m := r.send(message.To{UserID: "ada"}, "x")
		for i := range 150 {
			r.send(message.To{UserID: "ada"}, fmt.Sprint(i))
		}
		if c := r.now(m.ID).Channels.Cloud; c.State != message.Failed || c.Reason == "" {
			t.Errorf("%+v", c)
		}
	})
}

// A message is stored with its row in one transaction, and says how far that is
// on its way to the cloud.
func TestMessageOnItsWayToTheCloud(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{cloud: true})
		commits := r.db.Stats().Commits
		m := r.send(message.To{Email: "MEL@example.com"}, "first")
		if n := r.db.Stats().Commits - commits; n != 1 || len(r.rows()) != 1 {
			t.Errorf("%d commits, %d rows, want one of each", n, len(r.rows()))
		}
		goldentest.Values(t, "the message", goldentest.Pairs{"To.UserID": {m.To.UserID, "mel"}, "To.Email": {m.To.Email, "mel@example.com"},
			"OrganizationID": {m.OrganizationID, org}, "Priority": {m.Priority, message.Normal},
			"ExpiresAt": {m.ExpiresAt.Equal(m.CreatedAt.Add(message.UsualLife)), true}})
		if c := m.Channels.Cloud; c.State != message.Queued || c.Reason != "there is no link to the cloud" {
			t.Errorf("without a link: %+v", c)
		}
		r.connected = true
		if c := r.now(m.ID).Channels.Cloud; c.State != message.Queued || c.Reason != "" {
			t.Errorf("with a link: %+v", c)
		}
		r.acked, r.connected = 1, false
		if c := r.now(m.ID).Channels.Cloud; c.State != message.Sent {
			t.Errorf("acknowledged: %+v", c)
		}
	})
}
