//go:build integration

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/cloud"
)

const (
	// bookingKills is how often the gateway is killed while it takes bookings.
	bookingKills = 30
	// scheduleSize is how many bookings each of the cloud's schedules has: so
	// many that they are not told one by one.
	scheduleSize = 600
	crashKey     = "crash-test-system-key"
)

// desk books over HTTP, and remembers what was acknowledged.
type desk struct {
	t    *testing.T
	base string

	next  atomic.Int64 // slot to ask for
	mu    sync.Mutex
	acked map[string]bookingAnswer
	asked int
}

// bookingAnswer is what of a record the test compares.
type bookingAnswer struct {
	ID    string        `json:"id"`
	Title string        `json:"title"`
	Start time.Time     `json:"start_time"`
	End   time.Time     `json:"end_time"`
	State booking.State `json:"state"`
}

func (d *desk) call(method, path string, body, answer any) (status int, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, d.base+path, bytes.NewReader(text))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("X-API-Key", crashKey)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer got.Body.Close()
	if text, err = io.ReadAll(got.Body); err != nil {
		return 0, err // it was killed while it answered
	}
	if answer == nil {
		return got.StatusCode, nil
	}
	return got.StatusCode, json.Unmarshal(text, answer)
}

// book lets two ask for the same free slot at once.
func (d *desk) book() {
	slot := d.next.Add(1)
	start := time.Now().UTC().Truncate(24 * time.Hour).Add(24*time.Hour + time.Duration(slot)*15*time.Minute)
	var both sync.WaitGroup
	var won atomic.Int64
	for _, who := range []string{"a", "b"} {
		both.Go(func() {
			id := fmt.Sprintf("slot-%d-%s", slot, who)
			var b bookingAnswer
			status, err := d.call(http.MethodPost, "/bookings", map[string]any{"id": id, "meeting_space_id": witnessRoom, "title": id,
				"start_time": start, "end_time": start.Add(15 * time.Minute)}, &b)
			d.mu.Lock()
			defer d.mu.Unlock()
			d.asked++
			switch {
			case err != nil: // nothing is known of it
			case status == http.StatusCreated:
				won.Add(1)
				d.acked[id] = b
			case status != http.StatusConflict:
				d.t.Errorf("%s: status %d", id, status)
			}
		})
	}
	both.Wait()
	if won.Load() > 1 {
		d.t.Errorf("slot %d was given twice", slot)
	}
}

// plan reads every booking of a room.
func (d *desk) plan(room string) map[string]bookingAnswer {
	d.t.Helper()
	all := map[string]bookingAnswer{}
	for cursor := ""; ; {
		var page struct {
			Bookings []bookingAnswer `json:"bookings"`
			Next     string          `json:"next_cursor"`
		}
		path := "/bookings?limit=200&meeting_space_id=" + room
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		if status, err := d.call(http.MethodGet, path, nil, &page); err != nil || status != http.StatusOK {
			d.t.Fatalf("%s: %d, %v", path, status, err)
		}
		for _, b := range page.Bookings {
			all[b.ID] = b
		}
		if cursor = page.Next; cursor == "" {
			return all
		}
	}
}

// still reads every booking of a room as it was at one moment: pages are not of
// one, and a schedule that comes again may be applied between two.
func (d *desk) still(room string) map[string]bookingAnswer {
	d.t.Helper()
	last := d.plan(room)
	for range 20 {
		now := d.plan(room)
		if maps.Equal(now, last) {
			break
		}
		last = now
	}
	return last
}

// check compares the plans with what was acknowledged.
func (d *desk) check() {
	d.t.Helper()
	kept := d.plan(witnessRoom)
	taken := map[time.Time]string{}
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, b := range d.acked {
		if kept[id] != b {
			d.t.Errorf("%s was acknowledged as %+v and is %+v", id, b, kept[id])
		}
	}
	for id, b := range kept {
		if other, twice := taken[b.Start]; twice && b.State == booking.Booked {
			d.t.Errorf("%s and %s have the same time", id, other)
		}
		taken[b.Start] = id
	}
	revisions := map[string]int{}
	pushed := d.still(loadRoom)
	for _, b := range pushed {
		revisions[b.Title]++
	}
	if len(revisions) > 1 || len(pushed) != 0 && len(pushed) != scheduleSize {
		d.t.Errorf("a schedule was applied in part: %v", revisions)
	}
}

// push sends a schedule in which every booking has the revision as its title.
func (h *headquarters) push(revision int) string {
	id := fmt.Sprint("schedule-", revision)
	day := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	all := make([]string, scheduleSize)
	for i := range all {
		from := day.Add(time.Duration(i) * 15 * time.Minute)
		all[i] = fmt.Sprintf(`{"id":"m%d","start_time":%q,"end_time":%q,"title":"%d","revision":%d}`,
			i, from.Format(time.RFC3339), from.Add(15*time.Minute).Format(time.RFC3339), revision, revision)
	}
	data := fmt.Sprintf(`{"meeting_space_id":%q,"kind":"snapshot","revision":%d,"bookings":[%s]}`, loadRoom, revision, strings.Join(all, ","))
	payload, err := cloud.Envelope{ID: id, Source: "headquarters", Type: "roomgate.schedule", Time: time.Now(), Data: json.RawMessage(data)}.Encode()
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := h.link.Publish(ctx, cloud.Message{Topic: upTopics.Down(cloud.LevelSchedule), Payload: payload, QoS: 1}); err != nil {
		h.t.Errorf("publish %s: %v", id, err)
	}
	return id
}

// listenForBookings collects the ids of the bookings that come up, and counts
// the messages: each start sends what the start before was not acknowledged.
func listenForBookings(t *testing.T, broker string) (heard func(id string) bool, messages func() int) {
	t.Helper()
	var mu sync.Mutex
	ids := map[string]bool{}
	count := 0
	link := cloud.NewLink(cloud.LinkOptions{URL: "mqtt://" + broker, ClientID: "bookings", Subscribe: []string{upTopics.Up(cloud.LevelBooking)},
		Receive: func(_ context.Context, m cloud.Message) error {
			e, err := cloud.Decode(m.Payload)
			var b booking.Booking
			if err == nil {
				err = json.Unmarshal(e.Data, &b)
			}
			if err != nil {
				t.Errorf("%s: %v", m.Topic, err)
			}
			mu.Lock()
			defer mu.Unlock()
			ids[b.ID] = true
			count++
			return nil
		}})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = link.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	awaitThat(t, "the listener is connected", link.Connected)
	return func(id string) bool { mu.Lock(); defer mu.Unlock(); return ids[id] },
		func() int { mu.Lock(); defer mu.Unlock(); return count }
}

// TestKillsLoseNoBooking kills the gateway again and again while people book
// over HTTP and the cloud pushes schedules: what was acknowledged is there
// after each start and comes up to the cloud, no slot is given twice, and no
// schedule is applied in part.
func TestKillsLoseNoBooking(t *testing.T) {
	t.Parallel()
	camera := newWitness(t)
	broker := startMosquitto(t)
	h := startHeadquarters(t, broker)
	heard, messages := listenForBookings(t, broker)
	g := buildGateway(t, broker, camera, camera)
	address := freeAddress(t)
	text, err := os.ReadFile(g.conf)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("127.0.0.1:0"), []byte(address), 1)
	text = bytes.Replace(text, []byte("acks: broker"), []byte("acks: broker, rate: 10000"), 1) // the backlog is not what is measured
	if err := os.WriteFile(g.conf, text, 0o600); err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, base: "http://" + address, acked: map[string]bookingAnswer{}}
	live := func() bool {
		var health map[string]any
		status, err := d.call(http.MethodGet, "/healthz", nil, &health)
		return err == nil && status == http.StatusOK
	}
	g.start()
	awaitThat(t, "the gateway answers", live)
	applied, longest := 0, time.Duration(0)
	for round := range bookingKills {
		stop := make(chan struct{})
		var load sync.WaitGroup
		for range 3 {
			load.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						d.book()
					}
				}
			})
		}
		id := h.push(round + 1)
		time.Sleep(30*time.Millisecond + rand.N(400*time.Millisecond))
		g.kill()
		close(stop)
		load.Wait()
		began := time.Now()
		g.start()
		awaitThat(t, "the gateway answers again", live)
		longest = max(longest, time.Since(began))
		if h.answers(id) > 0 {
			applied++
		}
		d.check()
	}
	last := h.push(bookingKills + 1)
	awaitThat(t, "the last schedule is answered", func() bool { return h.answers(last) > 0 })
	d.check()
	for id := range d.acked {
		for !heard(id) { // the listener has 100,000 messages to read
			before := messages()
			awaitThat(t, id+" comes up, or another booking", func() bool { return heard(id) || messages() > before })
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, states := range h.final {
		for _, s := range states {
			if s != device.Done {
				t.Errorf("%s was answered with %s", id, s)
			}
		}
	}
	t.Logf("%d kills: %d of %d requests for %d slots were acknowledged, %d of %d schedules were answered before their kill",
		bookingKills, len(d.acked), d.asked, d.next.Load(), applied, bookingKills)
	survivedAll(t, bookingKills, longest)
}

// survivedAll says for the table of make faults what was injected, and that a test
// which fails for anything lost or doubled has found none.
func survivedAll(t *testing.T, injected int, recovery time.Duration) {
	if !t.Failed() {
		t.Attr("injected", fmt.Sprint(injected))
		t.Attr("survived", fmt.Sprint(injected))
		t.Attr("lost", "0")
		t.Attr("doubled", "0")
		t.Attr("recovery", recovery.String())
	}
}
