//go:build integration && faults

package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/cloud"
)

// office is a cloud of a demo, on a real broker: it says what a test says, and keeps what comes up.
type office struct {
	t        *testing.T
	topics   cloud.Topics
	link     *cloud.Link
	mu       sync.Mutex
	receipts map[string]device.Receipt // the last of each command
}

// openOffice starts a broker, a gateway and its cloud.
func openOffice(t *testing.T, more ...string) (*badDisk, *office) {
	t.Helper()
	m := newMosquittoAt(t)
	m.start()
	d := openBadDisk(t, t.TempDir(), special{arguments: append(more, "--cloud", "mqtt://"+m.address)})
	o := &office{t: t, topics: cloud.Topics{Gateway: "demo"}, receipts: map[string]device.Receipt{}}
	o.link = cloud.NewLink(cloud.LinkOptions{URL: "mqtt://" + m.address, ClientID: "office", Subscribe: []string{o.topics.Up("receipt")}, Receive: o.receive})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = o.link.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	awaitThat(t, "both are at the broker", func() bool { return o.link.Connected() && d.line().Connected })
	return d, o
}

func (o *office) receive(_ context.Context, m cloud.Message) error {
	e, err := cloud.Decode(m.Payload)
	var r device.Receipt
	if err == nil {
		err = json.Unmarshal(e.Data, &r)
	}
	if err != nil {
		o.t.Errorf("%s: %v", m.Topic, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.receipts[r.CommandID] = r
	return nil
}

func (o *office) receipt(id string) (device.Receipt, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r, ok := o.receipts[id]
	return r, ok
}

// says publishes whatever it is.
func (o *office) says(level, payload string) {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := o.link.Publish(ctx, cloud.Message{Topic: o.topics.Down(level), Payload: []byte(payload), QoS: 1}); err != nil {
		o.t.Fatal(err)
	}
}

// plans sends bookings, and waits until they are taken.
func (o *office) plans(revision int, bookings ...string) {
	o.t.Helper()
	id := fmt.Sprint("plan-", revision)
	o.says("schedule", fmt.Sprintf(`{"specversion":"1.0","id":%q,"source":"office","type":"roomgate.schedule","time":%q,"data":{"meeting_space_id":%q,"kind":"delta","revision":%d,"bookings":[%s]}}`,
		id, time.Now().UTC().Format(time.RFC3339), demoRoom, revision, strings.Join(bookings, ",")))
	awaitThat(o.t, id+" is taken", func() bool { r, _ := o.receipt(id); return r.State == device.Done })
}

// planned is a booking as the cloud writes it.
func planned(b bookingAnswer, more string) string {
	return fmt.Sprintf(`{"id":%q,"title":%q,"start_time":%q,"end_time":%q%s}`, b.ID, b.Title, b.Start.Format(time.RFC3339), b.End.Format(time.RFC3339), more)
}

// one is the booking that was made, of one.
func (d *badDisk) one() (b bookingAnswer) {
	d.t.Helper()
	d.book(1)
	for id := range d.acked {
		b = d.acked[id]
	}
	clear(d.acked)
	return b
}

// survived tells make faults so, of a test that counts itself.
func survived(t *testing.T, injected int) {
	if !t.Failed() {
		t.Attr("injected", fmt.Sprint(injected))
		t.Attr("survived", fmt.Sprint(injected))
	}
}

// TestRevisionOfAGateway: the cloud cancels a booking that was edited here more often than the cloud knows, and its revision does not
// go back. Who books with the system key books for the organization of the space, and has no address.
func TestRevisionOfAGateway(t *testing.T) {
	d, o := openOffice(t)
	b := d.one()
	var got struct {
		Revision     int             `json:"revision"`
		State        booking.State   `json:"state"`
		Organization string          `json:"organization_id"`
		Organizer    json.RawMessage `json:"organizer"`
	}
	for n := range 5 {
		if status, err := d.call(http.MethodPatch, "/bookings/"+b.ID, map[string]any{"title": fmt.Sprint("edit ", n)}, nil); err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
	}
	read := func() {
		if status, err := d.call(http.MethodGet, "/v2.0/bookings/"+b.ID, nil, &got); err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
	}
	read()
	before := got.Revision
	if before < 6 || got.Organization == "" || strings.Contains(string(got.Organizer), "email") {
		t.Errorf("after five edits: %+v, organizer %s", got, got.Organizer)
	}
	o.plans(1, planned(b, `,"state":"cancelled","revision":2`))
	awaitThat(t, "the cloud has cancelled it", func() bool { read(); return got.State == booking.Cancelled })
	if got.Revision <= before {
		t.Errorf("revision %d after %d", got.Revision, before)
	}
	d.kill()
	d.start()
	if read(); got.Revision <= before {
		t.Errorf("after a restart revision %d, after %d", got.Revision, before)
	}
	survived(t, 2)
}

// TestRefusedMessagesOfAGateway: what is refused before anybody has read its id has a receipt under it, where one can be read.
func TestRefusedMessagesOfAGateway(t *testing.T) {
	d, o := openOffice(t)
	const data = `"source":"office","type":"roomgate.command","data":{"meeting_space_id":"` + demoRoom + `","device_type":"light","action":"on"}`
	bad := map[string]string{
		"no-version":    `{"id":"no-version",` + data + `}`,
		"wrong-version": `{"specversion":"7","id":"wrong-version",` + data + `}`,
		"large":         `{"specversion":"1.0","id":"large","padding":"` + strings.Repeat("x", 65<<10) + `",` + data + `}`,
		"cut":           `{"specversion":"1.0","id":"cut","source":"off`,
		"wrong-time":    `{"specversion":"1.0","id":"wrong-time","time":"noon",` + data + `}`,
	}
	for id, text := range bad {
		o.says("command", text)
		awaitThat(t, id+" is answered", func() bool { r, ok := o.receipt(id); return ok && r.State == device.Rejected && r.Reason != "" })
	}
	for _, text := range []string{"", "[]", `{"id":7}`, strings.Repeat("{", 70<<10)} { // nobody can be answered
		o.says("command", text)
	}
	d.door("after them", true)
	survived(t, len(bad)+4)
}

// TestWebhookOfAGateway: who knows the platform's four events hears that a booking was displaced, once, with a signature that can be
// checked as the page says.
func TestWebhookOfAGateway(t *testing.T) {
	var mu sync.Mutex
	var heard []string
	in := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(hookSecret))
		mac.Write(body)
		var got struct {
			Event string `json:"event"`
			Data  struct {
				Booking string `json:"booking_id"`
			} `json:"data"`
		}
		if err != nil || json.Unmarshal(body, &got) != nil || r.Header.Get("X-Webhook-Signature") != hex.EncodeToString(mac.Sum(nil)) {
			t.Errorf("%v: %s is signed with %s", err, body, r.Header.Get("X-Webhook-Signature"))
		}
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, got.Event+" "+got.Data.Booking)
	}))
	t.Cleanup(in.Close)
	d, o := openOffice(t, "--allow-loopback")
	b := d.one()
	var made struct {
		Organization string `json:"organization_id"`
	}
	if status, err := d.call(http.MethodGet, "/bookings/"+b.ID, nil, &made); err != nil || status != http.StatusOK {
		t.Fatal(status, err)
	}
	if status, err := d.call(http.MethodPost, "/api/v1/webhooks", map[string]any{"organization_id": made.Organization, "url": in.URL, "secret": hookSecret,
		"events": []string{"booking.created", "booking.start", "booking.end", "booking.cancelled"}}, nil); err != nil || status != http.StatusCreated {
		t.Fatal(status, err)
	}
	first := b
	first.ID = "of-the-cloud"
	o.plans(1, planned(first, `,"cloud_revision":1`))
	displaced := "booking.cancelled " + b.ID
	awaitThat(t, "it is told by a name of the four", func() bool { mu.Lock(); defer mu.Unlock(); return slices.Contains(heard, displaced) })
	mu.Lock()
	defer mu.Unlock()
	if i := slices.Index(heard, displaced); slices.Contains(heard[i+1:], displaced) {
		t.Errorf("it is told twice: %q", heard)
	}
	survived(t, 1)
}
