package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/cloud"
)

// says publishes data of the gateway below up/.
func (g *gateway) says(t *testing.T, level string, retained bool, data string) {
	t.Helper()
	kind, _, _ := strings.Cut(level, "/")
	payload, _ := cloud.Envelope{ID: fmt.Sprint(level, time.Now().UnixNano()), Source: "roomgate/g", Type: "roomgate." + kind, Time: time.Now(), Data: json.RawMessage(data)}.Encode()
	if err := g.link.Publish(t.Context(), cloud.Message{Topic: cloud.Topics{Gateway: "g"}.Up(level), Payload: payload, QoS: 1, Retained: retained}); err != nil {
		t.Fatal(err)
	}
}

// A command has the outcome that the gateway says, and none if it says none.
func TestCommandWaitsForTheReceipt(t *testing.T) {
	for _, c := range []struct {
		says []string // states
		want string
		err  error
		took time.Duration
	}{
		{[]string{"accepted", "done"}, "done", nil, 0},
		{[]string{"accepted", "failed"}, "failed", nil, 0},
		{[]string{"rejected", "done"}, "rejected", nil, 0},
		{[]string{"accepted"}, "accepted", ErrNoReceipt, 35 * time.Second},
		{nil, "", ErrNoReceipt, 35 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t)
			b, g := s.backend(), s.gateway()
			s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), (&reader{}).take) })
			time.Sleep(3 * time.Second)
			var r Receipt
			var err error
			began, ended := time.Now(), make(chan struct{})
			go func() {
				r, err = b.Command(t.Context(), "g", Command{MeetingSpaceID: "s", DeviceType: "light", Action: "on", TTL: 20})
				close(ended)
			}()
			synctest.Wait()
			id := g.heardOf("roomgate.command")[0].ID
			g.says(t, "receipt", false, `{"command_id":"another","state":"done"}`)
			for _, state := range c.says {
				g.says(t, "receipt", false, `{"command_id":"`+id+`","state":"`+state+`"}`)
			}
			<-ended
			if r.State != c.want || r.CommandID != id || !errors.Is(err, c.err) || time.Since(began).Truncate(time.Second) != c.took {
				t.Errorf("%q: %+v, %v after %v", c.says, r, err, time.Since(began))
			}
			if len(b.waiting) != 0 {
				t.Errorf("%d wait still", len(b.waiting))
			}
		})
	}
}

// At most 50 wait for one gateway; another gateway is not held up by that.
func TestCommandsThatWaitAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b := s.backend()
		s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), (&reader{}).take) })
		time.Sleep(3 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 60)
		for range 50 {
			go func() { _, err := b.Command(ctx, "g", Command{}); ended <- err }()
		}
		synctest.Wait()
		if _, err := b.Command(ctx, "g", Command{}); !errors.Is(err, ErrBusy) {
			t.Errorf("the 51st: %v", err)
		}
		go func() { _, err := b.Command(ctx, "other", Command{}); ended <- err }()
		synctest.Wait()
		cancel()
		for range 51 {
			if err := <-ended; !errors.Is(err, ErrNoReceipt) {
				t.Errorf("one of 51: %v", err)
			}
		}
	})
}

func TestCommandNeedsSomebodyWhoHears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b := s.backend()
		s.start(b.Run)
		time.Sleep(3 * time.Second)
		if _, err := b.Command(t.Context(), "g", Command{}); err == nil || !strings.Contains(err.Error(), "run Consume") {
			t.Errorf("%v", err)
		}
	})
}

func TestFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), (&reader{}).take) })
		time.Sleep(3 * time.Second)
		if _, ok := b.State("g"); ok {
			t.Error("a gateway is known that has said nothing")
		}
		state := func(lock string, revision int) string {
			return fmt.Sprintf(`{"meeting_space_id":"s","name":"Aurora","status":"available","schedule_revision":%d,"devices":[{"device_id":"d","device_type":"lock","value":%q,"status":"online"}]}`, revision, lock)
		}
		g.says(t, "presence", true, `{"state":"online","session":"2","version":"1.9.0"}`)
		g.says(t, "presence", true, `{"state":"offline","session":"1","version":"1.9.0"}`) // a late will
		g.says(t, "state/s", true, state("open", 3))
		time.Sleep(time.Second)
		got, ok := b.State("g")
		if !ok || !got.Online || !got.Unlocked() || got.Spaces["s"].Name != "Aurora" {
			t.Errorf("%+v", got)
		}
		if !got.Behind("s", 4) || got.Behind("s", 3) {
			t.Errorf("behind 4: %v, behind 3: %v", got.Behind("s", 4), got.Behind("s", 3))
		}
		for release, below := range map[string]bool{"1.10.0": true, "1.9.0": false, "1.8.9": false, "2": true, "v1.9.1-rc1": true} {
			if got.Below(release) != below {
				t.Errorf("1.9.0 below %s: %v", release, !below)
			}
		}
		if all := b.Fleet(Gateway.Unlocked); len(all) != 1 || all[0].ID != "g" {
			t.Errorf("with open locks: %+v", all)
		}
		g.says(t, "state/s", true, state("closed", 4))
		g.says(t, "presence", true, `{"state":"offline","session":"2","version":"1.9.0"}`)
		time.Sleep(time.Second)
		if all := b.Fleet(nil); len(all) != 1 || all[0].Online || all[0].Unlocked() {
			t.Errorf("%+v", all)
		}
	})
}

// A large schedule goes in parts that any broker takes, and is the same when they are put together.
func TestLargeScheduleGoesInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		s.start(b.Run)
		time.Sleep(3 * time.Second)
		large := Schedule{MeetingSpaceID: "s", Revision: 7, Kind: Snapshot}
		for i := range 2000 {
			large.Bookings = append(large.Bookings, json.RawMessage(fmt.Sprintf(`{"id":"b%d","title":%q}`, i, strings.Repeat("x", 100))))
		}
		id, err := b.Schedule(t.Context(), "g", large)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		var parts []json.RawMessage
		heard := g.heardOf("roomgate.schedule")
		for _, e := range heard {
			parts = append(parts, e.Data)
		}
		whole, err := cloud.Join(parts)
		want, _ := json.Marshal(large)
		if err != nil || len(parts) < 4 || heard[0].ID != id || !slices.Equal(whole, want) {
			t.Errorf("%d parts, first %s, %v", len(parts), heard[0].ID, err)
		}
	})
}

// A command may be given before Consume has begun.
func TestCommandBeforeConsume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b := s.backend()
		sent := make(chan error, 1)
		go func() { _, err := b.Send(t.Context(), "g", Command{}); sent <- err }()
		time.Sleep(3 * time.Second)
		s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), (&reader{}).take) })
		if err := <-sent; err != nil {
			t.Error(err)
		}
	})
}
