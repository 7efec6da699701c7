package standin

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/cloud"
	"roomgate/cloud/backend"
	"roomgate/cloud/broker"
)

const space = "00000000-0000-4000-8000-000000000001"

var now = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

func open(t *testing.T) *Cloud {
	t.Helper()
	c, err := New(Options{URL: "mqtt://127.0.0.1:1", Gateway: "demo", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// says is a message of a building.
func says(t *testing.T, c *Cloud, gateway, level, kind, subject string, data any) {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.consume(t.Context(), nil, backend.Received{Gateway: gateway, Level: level, Envelope: cloud.Envelope{Type: kind, Subject: subject, Data: raw}}); err != nil {
		t.Fatal(err)
	}
}

// local is a booking that a building has made.
func local(id string, start, end time.Time) booking.Booking {
	return booking.Booking{ID: id, SpaceID: space, State: booking.Booked, Source: booking.Local, Revision: 1, Start: start, End: end, CreatedAt: now, UpdatedAt: now}
}

// sent is the next schedule on its way: to whom, its revision and kind, and the
// ids in it.
func sent(t *testing.T, c *Cloud) (gateway string, s backend.Schedule, ids []string) {
	t.Helper()
	select {
	case out := <-c.queue:
		for _, raw := range out.Bookings {
			var b booking.Booking
			if err := json.Unmarshal(raw, &b); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, b.ID)
		}
		slices.Sort(ids)
		return out.gateway, out.Schedule, ids
	default:
		t.Fatal("nothing is on its way")
	}
	return "", backend.Schedule{}, nil
}

func quiet(t *testing.T, c *Cloud) {
	t.Helper()
	if len(c.queue) > 0 {
		t.Errorf("%d schedules too many are on their way", len(c.queue))
	}
}

// Whoever books at the cloud is refused a time that is taken, and the building
// gets each change under the next revision.
func TestApply(t *testing.T) {
	c := open(t)
	board := Request{Space: space, ID: "board", Title: "Board", Start: now.Add(time.Hour), End: now.Add(2 * time.Hour)}
	all, err := c.Apply(board, now)
	if err != nil || all.Revision != 1 || len(all.Bookings) != 1 || all.Bookings[0].Source != booking.Cloud {
		t.Fatalf("%+v, %v", all, err)
	}
	if gateway, s, ids := sent(t, c); gateway != "demo" || s.Kind != backend.Delta || s.Revision != 1 || !slices.Equal(ids, []string{"board"}) {
		t.Errorf("%s gets %+v", gateway, s)
	}
	if _, err := c.Apply(Request{Space: space, Start: now.Add(90 * time.Minute), End: now.Add(3 * time.Hour)}, now); err == nil {
		t.Error("a time that is taken is booked again")
	}
	board.Start, board.End = now.Add(4*time.Hour), now.Add(5*time.Hour)
	if all, err = c.Apply(board, now); err != nil || len(all.Bookings) != 1 || !all.Bookings[0].Start.Equal(board.Start) {
		t.Errorf("moved to %+v, %v", all, err)
	}
	sent(t, c)
	if _, err := c.Apply(Request{Space: space, ID: "another", Cancel: true}, now); err == nil {
		t.Error("a booking that there is not is taken back")
	}
	if all, err = c.Apply(Request{Space: space, ID: "board", Cancel: true}, now); err != nil || all.Bookings[0].State != booking.Cancelled {
		t.Errorf("taken back: %+v, %v", all, err)
	}
	sent(t, c)
	if all, err = c.Apply(Request{Space: space}, now); err != nil || all.Revision != 3 {
		t.Errorf("listed: %+v, %v", all, err)
	}
	quiet(t, c)
}

// A booking of the building is taken in, and the building hears which revision
// knows it. One that is in the way of another yields by the rules of booking.
func TestMerge(t *testing.T) {
	c := open(t)
	says(t, c, "north", "booking", "roomgate.booking", space, local("one", now.Add(time.Hour), now.Add(2*time.Hour)))
	if gateway, s, ids := sent(t, c); gateway != "north" || s.Revision != 1 || !slices.Equal(ids, []string{"one"}) {
		t.Errorf("%s gets %+v", gateway, s)
	}
	says(t, c, "north", "booking", "roomgate.booking", space, local("two", now.Add(time.Hour), now.Add(2*time.Hour)))
	if _, _, ids := sent(t, c); len(ids) == 0 {
		t.Error("the building does not hear who yields")
	}
	live := 0
	all, err := c.Apply(Request{Space: space}, now)
	for _, b := range all.Bookings {
		if b.Live() {
			live++
		}
	}
	if err != nil || live != 1 || len(all.Bookings) != 2 {
		t.Errorf("%d are live of %+v, %v", live, all.Bookings, err)
	}
	quiet(t, c)
}

// A building that missed a revision gets everything.
func TestSnapshot(t *testing.T) {
	c := open(t)
	if _, err := c.Apply(Request{Space: space, ID: "board", Start: now.Add(time.Hour), End: now.Add(2 * time.Hour)}, now); err != nil {
		t.Fatal(err)
	}
	sent(t, c) // and it is lost on its way
	wants(t, c, 0)
	if gateway, s, ids := sent(t, c); gateway != "north" || s.Kind != backend.Snapshot || s.Revision != 2 || !slices.Equal(ids, []string{"board"}) {
		t.Errorf("%s gets %+v", gateway, s)
	}
	quiet(t, c)
}

// wants is a building that asks for everything.
func wants(t *testing.T, c *Cloud, have int) {
	t.Helper()
	says(t, c, "north", "event", "roomgate.event.snapshotWanted", space, map[string]any{"details": map[string]any{"have": have, "revision": have}})
}

// A cloud that was started again goes on from the revision that the building has. It does not know what the one before it knew, so nothing
// that it sends takes a booking away.
func TestSnapshotOfWhatWasForgotten(t *testing.T) {
	for _, first := range []string{"state", "event"} { // which of the two is heard first
		c := open(t)
		if first == "state" {
			says(t, c, "north", "state", "roomgate.state", "", map[string]any{"meeting_space_id": space, "schedule_revision": 41})
		}
		wants(t, c, 41)
		if gateway, s, ids := sent(t, c); gateway != "north" || s.Kind != backend.Delta || s.Revision != 42 || len(ids) != 0 {
			t.Errorf("after the %s %s gets %+v", first, gateway, s)
		}
		if _, err := c.Apply(Request{Space: space, ID: "board", Start: now.Add(time.Hour), End: now.Add(2 * time.Hour)}, now); err != nil {
			t.Fatal(err)
		}
		sent(t, c) // 43, and it is lost on its way
		wants(t, c, 42)
		if _, s, ids := sent(t, c); s.Kind != backend.Delta || s.Revision != 43 || !slices.Equal(ids, []string{"board"}) {
			t.Errorf("after a gap it gets %+v", s)
		}
		quiet(t, c)
	}
}

// What cannot be read does no harm.
func TestGarbledMessages(t *testing.T) {
	c := open(t)
	for _, level := range []string{"booking", "message", "state", "event"} {
		if err := c.consume(t.Context(), nil, backend.Received{Gateway: "north", Level: level, Envelope: cloud.Envelope{Type: "roomgate." + level, Data: json.RawMessage(`["`)}}); err != nil {
			t.Errorf("%s: %v", level, err)
		}
	}
	quiet(t, c)
}

// lineWriter hands on what a log says.
type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) { w <- string(p); return len(p), nil }

// A row that a gateway sends once its cloud has settled is heard.
func TestSettle(t *testing.T) {
	b, err := broker.Open(broker.Options{Listen: "127.0.0.1:0", AllowAnonymousLoopback: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var loops sync.WaitGroup
	loops.Go(func() { _ = b.Run(ctx) })
	defer func() { stop(); loops.Wait(); _ = b.Close() }()
	lines := make(lineWriter, 100)
	c, err := New(Options{URL: "mqtt://" + b.Addr().String(), Log: slog.New(slog.NewTextHandler(lines, nil))})
	if err != nil {
		t.Fatal(err)
	}
	begin, settled := make(chan struct{}), make(chan struct{})
	loops.Go(func() { <-begin; _ = c.Run(ctx) })
	loops.Go(func() { c.Settle(ctx); close(settled) })
	select {
	case <-settled:
		t.Error("it has settled before it runs")
	default:
	}
	close(begin)
	<-settled
	row, err := cloud.Envelope{ID: "1", Source: "demo", Type: "roomgate.event.started", Time: now, Sequence: 1, BootID: "b", Data: json.RawMessage(`{}`)}.Encode()
	if err == nil {
		err = b.Publish(cloud.Topics{Gateway: "demo"}.Up("event"), row, false, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range lines {
		if strings.Contains(line, "cloud received") {
			return
		}
	}
}
