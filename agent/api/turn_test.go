package api

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWhoWaitsKeepsNoTurn: streams, long polls and commands wait without a turn, and
// afterwards none is held. While all turns are taken, reads wait, and health, status
// and commands do not.
func TestWhoWaitsKeepsNoTurn(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		turns := &b.server.limiters.reads
		cursor := b.events("/devices/events").Next
		polled := make(chan eventList, 10)
		for range cap(polled) {
			go func() { polled <- b.events("/devices/events?wait=30s&event_type=bookingNever&cursor=" + cursor) }()
		}
		synctest.Wait()
		if got := b.ask("GET", "/bookings"); got.StatusCode != 200 {
			t.Errorf("beside long polls a read gets %d", got.StatusCode)
		}
		for range cap(polled) {
			<-polled
		}
		for range turns.Most {
			if !turns.Take(t.Context(), reader{who: "eve"}) {
				t.Fatal("no turn is left")
			}
		}
		read := make(chan answer, 1)
		go func() { read <- b.ask("GET", "/bookings") }()
		for _, path := range []string{"GET /healthz", "GET /readyz", "POST /devices/" + aurora + "/status", "POST /devices/" + aurora + "/action"} {
			method, path, _ := strings.Cut(path, " ")
			var body []string
			if method == "POST" {
				body = []string{`{"device_type":"light"` + map[bool]string{true: `,"action":"on"`}[strings.HasSuffix(path, "action")] + "}"}
			}
			start := time.Now()
			if got := b.ask(method, path, body...); got.StatusCode != 200 || time.Since(start) > 5*time.Second {
				t.Errorf("%s gets %d after %v", path, got.StatusCode, time.Since(start))
			}
		}
		synctest.Wait()
		if len(read) != 0 {
			t.Error("a read does not wait for its turn")
		}
		for range turns.Most {
			turns.Done()
		}
		if got := <-read; got.StatusCode != 200 {
			t.Errorf("the read gets %d", got.StatusCode)
		}
		for i := range turns.Most { // all are back
			if !turns.Take(t.Context(), reader{who: fmt.Sprint(i)}) {
				t.Fatal("a turn is lost")
			}
		}
		for range turns.Most {
			turns.Done()
		}
	})
}
