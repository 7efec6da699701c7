package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/webhook"
)

// another is an organization that owns no room.
const another = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac9"

const owner = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac0"

// owned has a room of an organization with a sensor, and a room of nobody's.
const owned = `
gateway: {id: test}
clock: {trust: TRUST}
store: {events: 100000}
spaces:
  - id: ` + room + `
    name: Aurora
    customer_id: ` + owner + `
    devices:
      - {id: hub-1, type: o3-sensor, driver: scripted-hub, poll: 5m, timeout: 1s, options: {name: hub-1}}
  - {id: ` + otherRoom + `, name: Borealis}
`

// post is what came to a receiver.
type post struct {
	at     time.Time
	host   string
	header http.Header
	body   []byte
	webhook.Payload
	data map[string]any
}

// receivers are all the receivers that there are, on the other side of a wire
// in memory.
type receivers struct {
	mu     sync.Mutex
	got    []post
	answer func(host string, r *http.Request) (*http.Response, error)
}

func (r *receivers) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	p := post{at: time.Now(), host: req.URL.Host, header: req.Header, body: body}
	if json.Unmarshal(body, &p.Payload) != nil || json.Unmarshal(p.Data, &p.data) != nil {
		return nil, fmt.Errorf("no payload: %s", body)
	}
	r.mu.Lock()
	r.got = append(r.got, p)
	answer := r.answer
	r.mu.Unlock()
	if answer != nil {
		return answer(p.host, req)
	}
	return reply(200, ""), nil
}

func reply(status int, retry string) *http.Response {
	w := httptest.NewRecorder()
	w.Header().Set("Retry-After", retry)
	w.WriteHeader(status)
	return w.Result()
}

// say sets how the receivers answer from now on; nil: 200.
func (r *receivers) say(f func(host string, r *http.Request) (*http.Response, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

func (r *receivers) always(status int, retry string) {
	r.say(func(string, *http.Request) (*http.Response, error) { return reply(status, retry), nil })
}

// take returns what has come since the last time.
func (r *receivers) take() []post {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

// told is what has come since the last time, as "host event booking".
func (r *receivers) told() (all []string) {
	for _, p := range r.take() {
		all = append(all, fmt.Sprint(strings.TrimSuffix(p.host, ".example.com"), " ", p.Event, " ", p.data["booking_id"]))
	}
	return all
}

// hookRig is a building with webhooks.
type hookRig struct {
	*rig
	out     *receivers
	log     *bytes.Buffer
	flooded int
}

// openHookRig opens a building without running it. An empty trust is always.
func openHookRig(t *testing.T, dir, trust string) *hookRig {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	if trust == "" {
		trust = config.TrustAlways
	}
	b := newBench()
	c, err := config.Parse("test.yaml", []byte(strings.Replace(owned, "TRUST", trust, 1)), b.kinds())
	if err != nil {
		t.Fatal(err)
	}
	r := &hookRig{out: &receivers{}, log: &bytes.Buffer{}}
	a, err := Open(t.Context(), Options{Config: c, Buses: &noBuses{}, DataDir: dir, Version: "test",
		Webhooks: &http.Client{Transport: r.out}, Log: slog.New(slog.NewTextHandler(r.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	r.rig = &rig{Agent: a, t: t, bench: b, stop: func() {}}
	if _, err := a.Access.CreateOrganization(t.Context(), another, "Another"); err != nil && AsError(err).Code != Conflict {
		t.Fatal(err)
	}
	return r
}

func startHookRig(t *testing.T, dir, trust string) *hookRig {
	t.Helper()
	r := openHookRig(t, dir, trust)
	r.run()
	return r
}

// hook registers a webhook at NAME.example.com.
func (r *hookRig) hook(name, organization string, events ...string) WebhookInfo {
	r.t.Helper()
	w, _, err := r.CreateWebhook(context.Background(), webhook.Request{OrganizationID: organization, URL: "https://" + name + ".example.com/in?token=hidden",
		Events: events, Secret: webhook.Secret("the secret of " + name)})
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

func (r *hookRig) state(id string) WebhookInfo {
	r.t.Helper()
	w, err := r.Webhook(id)
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

func (r *hookRig) deliveries(id string) []webhook.Delivery {
	r.t.Helper()
	all, _, err := r.Deliveries(id, 200, "")
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// kept are the states of all deliveries by key, as the building lists them.
func (r *hookRig) kept(t *testing.T) map[string]webhook.DeliveryState {
	t.Helper()
	r.hooks.mu.Lock()
	defer r.hooks.mu.Unlock()
	all := map[string]webhook.DeliveryState{}
	for id, w := range r.hooks.byID {
		for _, d := range w.waiting {
			all[deliveryKey(id, d.id)] = webhook.Pending
		}
		for _, d := range w.done {
			all[deliveryKey(id, d)] = "done"
		}
	}
	return all
}

func sameTold(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// happened returns the events of a kind so far.
func (r *hookRig) happened(kind string) int {
	r.t.Helper()
	events, _, err := r.Events.Find(eventlog.Filter{Type: kind, Limit: 1000})
	if err != nil {
		r.t.Fatal(err)
	}
	return len(events)
}

// flood makes so many more bookings happen at once.
func (r *hookRig) flood(n int) {
	r.t.Helper()
	s := r.find(room)
	edits := make([]edit, n)
	for i := range edits {
		start := on(40, 0).Add(time.Duration(r.flooded+i) * time.Hour)
		edits[i] = edit{Booking: booking.Booking{ID: fmt.Sprintf("f%05d", r.flooded+i), SpaceID: room, Start: start, End: start.Add(time.Hour),
			State: booking.Cancelled, Revision: 1}, event: bookingCreated, known: true}
	}
	r.flooded += n
	if err := s.plan.turn.Lock(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	defer s.plan.turn.Unlock()
	if err := r.commit(context.Background(), s, edits, nil); err != nil {
		r.t.Fatal(err)
	}
}
