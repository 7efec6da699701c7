package agent

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"roomgate/agent/webhook"
)

// startTLSReceiver starts a real receiver with TLS, and a building that trusts
// it. It is reached as example.com.
func startTLSReceiver(t *testing.T, h http.HandlerFunc) *hookRig {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	r := openHookRig(t, s.Client())
	r.run()
	return r
}

// await looks again and again until something is so, for at most 30 s.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !so() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestThousandOverTLSDelayNoStatusRead sends them to a real receiver, which
// verifies each with the independent library, while statuses are read.
func TestThousandOverTLSDelayNoStatusRead(t *testing.T) {
	lib, _ := standard.NewWebhookRaw([]byte("the secret of a"))
	var good, bad atomic.Int32
	r := startTLSReceiver(t, func(_ http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil || lib.Verify(body, req.Header) != nil {
			bad.Add(1)
		}
		good.Add(1)
	})
	await(t, "the first reading", func() bool { return r.Health.Ready() == nil })
	idle := r.readStatuses(t, func() bool { return false }, 500)
	w := r.hook("a", owner, webhook.BookingCreated)
	start := time.Now()
	r.flood(1000)
	busy := r.readStatuses(t, func() bool { return good.Load() == 1000 }, 10_000_000)
	await(t, "all delivered", func() bool { now, err := r.Webhooks.Get(w.ID); return err == nil && now.Pending == 0 })
	t.Logf("1000 deliveries over TLS in %v; a status read took %v in the middle and %v at most, idle %v and %v",
		time.Since(start).Round(time.Millisecond), busy[len(busy)/2], busy[len(busy)-1], idle[len(idle)/2], idle[len(idle)-1])
	if bad.Load() > 0 || good.Load() != 1000 {
		t.Errorf("%d came, %d of them with a bad signature", good.Load(), bad.Load())
	}
}

// readStatuses reads statuses until done, or so many, and returns how long
// each took, the shortest first.
func (r *hookRig) readStatuses(t *testing.T, done func() bool, limit int) (took []time.Duration) {
	t.Helper()
	for len(took) < limit && !done() {
		start := time.Now()
		if _, err := r.Site.Status(room, "o3-sensor", "temperature"); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(start))
		time.Sleep(20 * time.Microsecond)
	}
	slices.Sort(took)
	return took
}
