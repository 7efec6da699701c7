//go:build integration

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/agent/mail/mailtest"
	"roomgate/agent/rule"
	"roomgate/agent/webhook"
)

const (
	// hookKills is how often the gateway is killed while it sends notifications.
	hookKills  = 25
	crashOrg   = "00000000-0000-4000-8000-0000000000aa"
	hookSecret = "the secret of the crash tests"
)

// post is a notification as it came.
type post struct {
	id, booking, event string
	body               []byte
}

// receiver takes notifications at an address that they may go to.
type receiver struct {
	t    *testing.T
	base string

	mu    sync.Mutex
	first []post          // in the order in which they first came
	times map[string]int  // by webhook-id
	known map[string]post // by webhook-id
}

// privateAddress is one of this machine's own that the policy lets through.
func privateAddress(t *testing.T) string {
	t.Helper()
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().IsPrivate() {
			return p.Addr().String()
		}
	}
	t.Skip("this machine has no private address, and notifications never go to loopback")
	return ""
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t, times: map[string]int{}, known: map[string]post{}}
	l, err := net.Listen("tcp", net.JoinHostPort(privateAddress(t), "0"))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/in", r.take)
	mux.HandleFunc("/gone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: mux}}
	server.Start()
	t.Cleanup(server.Close)
	r.base = server.URL
	return r
}

func (r *receiver) take(_ http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // who sent it was killed
	}
	mac := hmac.New(sha256.New, []byte(hookSecret))
	_, _ = mac.Write(body)
	if req.Header.Get(webhook.HeaderSignature) != hex.EncodeToString(mac.Sum(nil)) {
		r.t.Errorf("a wrong signature under %s", body)
	}
	var payload struct {
		Event string `json:"event"`
		Data  struct {
			BookingID string `json:"booking_id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &payload); err != nil {
		r.t.Errorf("%v: %s", err, body)
	}
	p := post{req.Header.Get(webhook.HeaderID), payload.Data.BookingID, payload.Event, body}
	r.mu.Lock()
	if before, again := r.known[p.id]; again && string(before.body) != string(body) {
		r.t.Errorf("%s came as %s and as %s", p.id, before.body, body)
	} else if !again {
		r.known[p.id] = p
		r.first = append(r.first, p)
	}
	r.times[p.id]++
	r.mu.Unlock()
	time.Sleep(rand.N(20 * time.Millisecond)) // time to be killed in
}

// bookings are the ids of the bookings that were made, in the order in which
// they came.
func (r *receiver) bookings() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.first {
		if p.event == "booking.created" {
			ids = append(ids, p.booking)
		}
	}
	return ids
}

// buildingUnderTest is a gateway with a receiver and a relay.
type buildingUnderTest struct {
	*gatewayUnderTest
	*desk
	in    *receiver
	relay *mailtest.Relay
	data  string
}

func (b *buildingUnderTest) live() bool {
	var health map[string]any
	status, err := b.call(http.MethodGet, "/healthz", nil, &health)
	return err == nil && status == http.StatusOK
}

// want calls and wants a status.
func (b *buildingUnderTest) want(status int, method, path string, body, answer any) {
	b.desk.t.Helper()
	if got, err := b.call(method, path, body, answer); err != nil || got != status {
		b.desk.t.Fatalf("%s %s: %d, %v, want %d", method, path, got, err, status)
	}
}

// openHooked starts a gateway whose data are in a folder, with an admin and
// many who sign in.
func openHooked(t *testing.T, data string) *buildingUnderTest {
	t.Helper()
	camera := newWitness(t)
	b := &buildingUnderTest{gatewayUnderTest: buildGateway(t, "127.0.0.1:9", camera, camera), in: startReceiver(t), data: data}
	var err error
	if b.relay, err = mailtest.Start(mailtest.Options{Bare: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.relay.Close)
	address := freeAddress(t)
	text, err := os.ReadFile(b.conf)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.NewReplacer("127.0.0.1:0", address, "data: "+filepath.Dir(b.conf)+"/data", "data: "+data,
		"    name: Room", "    customer_id: "+crashOrg+"\n    name: Room").Replace(string(text))
	lines = regexp.MustCompile(`(?m)^cloud:.*\n`).ReplaceAllString(lines, "")
	lines += "webhooks: {allow_private: true, allow_http: true}\nsmtp: {url: 'smtp://" + b.relay.Address() +
		"', from: rooms@example.com}\nusers:\n  - {id: ada, email: ada@example.com, name: Ada, role: admin}\n"
	for i := range hookKills {
		lines += fmt.Sprintf("  - {id: u%d, email: u%d@example.com, name: U}\n", i, i)
	}
	if err := os.WriteFile(b.conf, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	b.desk = &desk{t: t, base: "http://" + address, acked: map[string]bookingAnswer{}}
	b.start()
	awaitThat(t, "the gateway answers", b.live)
	return b
}

// hook registers a webhook at a path of the receiver.
func (b *buildingUnderTest) hook(path string, events ...string) (id string) {
	b.desk.t.Helper()
	var made struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	b.want(http.StatusCreated, http.MethodPost, "/api/v1/webhooks", map[string]any{"organization_id": crashOrg,
		"url": b.in.base + path, "events": events, "secret": hookSecret}, &made)
	return made.Data.ID
}

// log reads all events of a kind from the first, as what their details say.
func (b *buildingUnderTest) log(kind, detail string) (all []string) {
	b.desk.t.Helper()
	for cursor := "0"; ; {
		var page struct {
			Events []struct {
				Details map[string]any `json:"details"`
			} `json:"events"`
			Next string `json:"next_cursor"`
		}
		b.want(http.StatusOK, http.MethodGet, "/devices/events?limit=200&event_type="+kind+"&cursor="+cursor, nil, &page)
		for _, e := range page.Events {
			all = append(all, fmt.Sprint(e.Details[detail]))
		}
		if page.Next == cursor {
			return all
		}
		cursor = page.Next
	}
}

// checkTold compares what has come with the log: everything, in its order,
// each under one id.
func (b *buildingUnderTest) checkTold() {
	t := b.desk.t
	t.Helper()
	made := b.log("booking.created", "booking_id")
	awaitThat(t, "the receiver has been told of every booking", func() bool { return len(b.in.bookings()) >= len(made) })
	if got := b.in.bookings(); !slices.Equal(got, made) {
		t.Errorf("%d bookings were made, and in this order\n%q\nthe receiver was told of %d in the order\n%q", len(made), made, len(got), got)
	}
	for id := range b.acked {
		if !slices.Contains(made, id) {
			t.Errorf("%s was acknowledged and is not in the log", id)
		}
	}
}

var messageID = regexp.MustCompile(`(?mi)^Message-ID: *(\S+)`)

// checkLetters wants one letter to the admin for each webhook that was
// disabled, and one for each code that was acknowledged.
func (b *buildingUnderTest) checkLetters(asked map[string]bool) {
	t := b.desk.t
	t.Helper()
	disabled := len(b.log("webhookDisabled", "webhook_id"))
	count := func() (notices, codes int, twice int) {
		seen, to := map[string]bool{}, map[string]bool{}
		for _, l := range b.relay.Letters() {
			id := messageID.FindStringSubmatch(l.Text)
			if id == nil {
				t.Fatalf("a letter has no id: %s", l.Text)
			}
			if seen[id[1]] {
				twice++
			} else if strings.Contains(l.Text, "is disabled") {
				notices++
			}
			seen[id[1]], to[l.To] = true, true
		}
		for email := range asked {
			if to[email] {
				codes++
			}
		}
		return notices, codes, twice
	}
	awaitThat(t, "every letter has come", func() bool { n, c, _ := count(); return n >= disabled && c >= len(asked) })
	notices, codes, twice := count()
	if notices != disabled || codes != len(asked) {
		t.Errorf("%d letters about a disabled webhook and %d events; %d codes of %d", notices, disabled, codes, len(asked))
	}
	t.Logf("%d letters to the admin, %d codes, %d letters came twice", notices, codes, twice)
}

// TestKillsLoseNoNotification kills the gateway again and again while people
// book and sign in, a receiver takes notifications, another one wants no more,
// and a rule answers bookings. What was acknowledged arrives in order, what
// comes twice has the same id, the admin is told of what is in the log, and
// the rule has run once for each booking.
func TestKillsLoseNoNotification(t *testing.T) {
	t.Parallel()
	b := openHooked(t, filepath.Join(t.TempDir(), "data"))
	b.hook("/in", "booking.created", "booking.cancelled")
	gone := b.hook("/gone", "booking.created")
	var answers struct {
		ID string `json:"id"`
	}
	b.want(http.StatusCreated, http.MethodPost, "/rules", map[string]any{"name": "answer", "meeting_space_id": loadRoom,
		"trigger": map[string]any{"event": "booking.created"}, "limits": map[string]any{"max_per_minute": 60},
		"actions": []any{map[string]any{"event": "answered"}, map[string]any{"device_type": "camera", "action": "snapshot"}}}, &answers)
	asked := map[string]bool{}
	longest := time.Duration(0)
	for round := range hookKills {
		var load sync.WaitGroup
		stop := make(chan struct{})
		for range 2 {
			load.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(5 * time.Millisecond):
						b.book()
					}
				}
			})
		}
		load.Go(func() {
			email := fmt.Sprintf("u%d@example.com", round)
			if status, err := b.call(http.MethodPost, "/api/v1/auth/otp/request", map[string]any{"email": email}, nil); err == nil && status == http.StatusOK {
				asked[email] = true
			}
		})
		load.Go(func() {
			_, _ = b.call(http.MethodPatch, "/api/v1/webhooks/"+gone, map[string]any{"state": "active"}, nil)
			start := time.Now().UTC().Truncate(24 * time.Hour).Add(48*time.Hour + time.Duration(round)*time.Hour)
			_, _ = b.call(http.MethodPost, "/bookings", map[string]any{"meeting_space_id": loadRoom, "start_time": start, "minutes": 30}, nil)
		})
		time.Sleep(30*time.Millisecond + rand.N(400*time.Millisecond))
		b.kill()
		close(stop)
		load.Wait()
		began := time.Now()
		b.start()
		awaitThat(t, "the gateway answers again", b.live)
		longest = max(longest, time.Since(began))
	}
	b.checkTold()
	b.checkLetters(asked)
	b.checkRule(answers.ID)
	b.in.mu.Lock()
	defer b.in.mu.Unlock()
	twice := 0
	for _, n := range b.in.times {
		twice += min(n-1, 1)
	}
	t.Logf("%d kills: %d notifications, %d of them more than once", hookKills, len(b.in.first), twice)
	survivedAll(t, hookKills, longest)
}

// checkRule wants one run for each booking of the rule's room.
func (b *buildingUnderTest) checkRule(id string) {
	t := b.desk.t
	t.Helper()
	made := 0
	for _, space := range b.log("booking.created", "meeting_space_id") {
		if space == loadRoom {
			made++
		}
	}
	awaitThat(t, "the rule has run for every booking", func() bool { return len(b.log("rule.answered", "run_id")) >= made })
	runs := b.log("rule.answered", "run_id")
	slices.Sort(runs)
	if len(runs) != made || len(slices.Compact(runs)) != made {
		t.Errorf("%d runs for %d bookings: %q", len(runs), made, runs)
	}
	awaitThat(t, "the order of every run has ended", func() bool { // or failed: its kill was in the middle of it
		var log struct {
			Runs []rule.Run `json:"runs"`
		}
		b.want(http.StatusOK, http.MethodGet, "/rules/"+id+"/log", nil, &log)
		return !slices.ContainsFunc(log.Runs, rule.Run.Open)
	})
	done := map[string]int{}
	for _, id := range b.log("commandCompleted", "command_id") {
		done[id]++
	}
	for id, n := range done {
		if n != 1 {
			t.Errorf("order %s was completed %d times", id, n)
		}
	}
	t.Logf("%d runs of the rule, %d orders", made, len(done))
}
