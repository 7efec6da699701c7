package agent

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/webhook"
)

func TestRetriesAreThePlatforms(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t, "", "")
		defer r.stop()
		w := r.hook("a", owner, webhook.BookingCreated)
		r.out.always(500, "")
		start := time.Now()
		r.book("b1", on(40, 0), on(40, 30))
		r.wait(26*time.Hour + 35*time.Minute)
		if now := r.state(w.ID); now.State != webhook.Active || now.Pending != 1 || r.happened(webhookFailing) != 0 {
			t.Errorf("before the last retry: %+v", now)
		}
		r.wait(2 * time.Minute)
		var at []time.Duration
		ids := map[string]bool{}
		for _, p := range r.out.take() {
			at = append(at, p.at.Sub(start))
			ids[p.header.Get(webhook.HeaderID)] = true
		}
		want := []time.Duration{0, time.Minute, 6 * time.Minute, 36 * time.Minute, 156 * time.Minute, 1596 * time.Minute}
		if !slices.Equal(at, want) || len(ids) != 1 {
			t.Errorf("sent at %v with %d ids, want %v with one", at, len(ids), want)
		}
		now, log := r.state(w.ID), r.deliveries(w.ID)
		if now.State != webhook.Failing || now.Reason == "" || now.LastError == "" || r.happened(webhookFailing) != 1 {
			t.Errorf("after the last retry: %+v", now)
		}
		if len(log) != 1 || log[0].State != webhook.Failed || log[0].Count != 6 || log[0].Attempts[5].Status != 500 {
			t.Errorf("the log: %+v", log)
		}

		r.out.say(nil) // the receiver is back
		r.book("b2", on(41, 0), on(41, 30))
		r.wait(time.Minute)
		sameTold(t, "a failing webhook is still told", r.out.told(), "a booking.created b2")
		if now := r.state(w.ID); now.State != webhook.Active || now.Reason != "" || r.happened(webhookRecovered) != 1 {
			t.Errorf("after a success: %+v", now)
		}
		if d, err := r.Redeliver(t.Context(), w.ID, log[0].ID); err != nil || d.State != webhook.Pending {
			t.Errorf("redelivered: %+v, %v", d, err)
		}
		r.wait(time.Millisecond)
		again := r.out.take()
		if len(again) != 1 || !ids[again[0].header.Get(webhook.HeaderID)] {
			t.Errorf("redelivery came as %+v", again)
		}
		if log := r.deliveries(w.ID); len(log) != 2 || log[1].State != webhook.Delivered || log[1].Count != 7 {
			t.Errorf("the log after it: %+v", log)
		}
	})
}

func TestGoneDisables(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t, "", "")
		defer r.stop()
		w := r.hook("a", owner, webhook.BookingCreated)
		r.out.always(500, "")
		r.book("b1", on(40, 0), on(40, 30)) // waits for its retry
		r.wait(time.Second)
		r.out.always(410, "")
		r.book("b2", on(41, 0), on(41, 30))
		r.wait(2 * time.Second)
		if now := r.state(w.ID); now.State != webhook.Disabled || now.Pending != 1 || !strings.Contains(now.Reason, "410") || r.happened(webhookDisabled) != 1 {
			t.Errorf("after 410: %+v", now)
		}
		r.out.take()
		r.out.say(nil)
		r.book("b3", on(42, 0), on(42, 30))
		r.wait(time.Hour)
		sameTold(t, "disabled", r.out.told())
		if _, err := r.Redeliver(t.Context(), w.ID, r.deliveries(w.ID)[0].ID); AsError(err).Code != NotNow {
			t.Errorf("redelivery to a disabled webhook: %v", err)
		}
		on := webhook.Active
		if _, err := r.ChangeWebhook(t.Context(), w.ID, webhook.Change{State: &on}); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Second)
		sameTold(t, "enabled again, what waited goes", r.out.told(), "a booking.created b1")
	})
}

func TestRetryAfterCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t, "", "")
		defer r.stop()
		r.hook("a", owner, webhook.BookingCreated)
		r.out.always(429, "600")
		start := time.Now()
		r.book("b1", on(40, 0), on(40, 30))
		r.wait(time.Second)
		r.out.say(nil)
		r.book("b2", on(41, 0), on(41, 30)) // has to wait too: the receiver has asked for quiet
		r.wait(20 * time.Minute)
		got := r.out.take()
		if len(got) != 3 || got[1].at.Sub(start) != 10*time.Minute || got[2].at.Sub(start) != 10*time.Minute || got[1].data["booking_id"] != "b1" {
			t.Errorf("came %+v", got)
		}
	})
}

// TestHangingReceiverDelaysNobody has one that never answers, one that fails
// and a good one.
func TestHangingReceiverDelaysNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t, "", "")
		defer r.stop()
		hang := func(_ string, req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}
		r.out.say(func(host string, req *http.Request) (*http.Response, error) {
			if host == "good.example.com" {
				return reply(200, ""), nil
			}
			return hang(host, req)
		})
		for i := range maxWebhooksOfOrg - 1 {
			r.hook(fmt.Sprint("bad", i), owner, webhook.BookingCreated)
		}
		r.hook("good", owner, webhook.BookingCreated)
		r.book("b0", on(40, 0), on(40, 30)) // who hangs is known after this one
		r.wait(time.Minute)
		for i := range 10 {
			start := time.Now()
			r.book(fmt.Sprint("b", i+1), on(41+i, 0), on(41+i, 30))
			r.wait(time.Second)
			for _, p := range r.out.take() {
				if p.host == "good.example.com" && p.at.Sub(start) > 0 {
					t.Errorf("the good receiver was told after %v", p.at.Sub(start))
				}
			}
		}
		r.wait(30 * time.Second)
		for _, w := range r.Webhooks("") {
			if good := strings.Contains(w.URL, "good"); good != (w.Pending == 0) {
				t.Errorf("%s has %d pending", w.URL, w.Pending)
			}
		}
	})
}

func TestUntrustedClockHoldsDeliveries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startHookRig(t, dir, config.TrustNever)
		w := r.hook("a", owner, webhook.BookingCreated)
		r.book("b1", on(40, 0), on(40, 30))
		r.wait(time.Hour)
		sameTold(t, "without a clock", r.out.told())
		if _, err := r.TestWebhook(t.Context(), w.ID); AsError(err).Code != NotNow {
			t.Errorf("a test without a clock: %v", err)
		}
		if _, _, err := r.RotateSecret(t.Context(), w.ID, "", webhook.Overlap); AsError(err).Code != NotNow {
			t.Errorf("a rotation without a clock: %v", err)
		}
		if now := r.state(w.ID); now.Pending != 1 || len(r.deliveries(w.ID)) != 1 {
			t.Errorf("%+v", now)
		}
		r.stop()
		r = startHookRig(t, dir, "")
		defer r.stop()
		r.wait(time.Second)
		sameTold(t, "with one", r.out.told(), "a booking.created b1")
	})
}

// TestCrashBetween ends the process at each step from the booking to the
// receiver: it is told once, or again with the same id if it was told already.
func TestCrashBetween(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openHookRig(t, dir, "")
		w := r.hook("a", owner, webhook.BookingCreated)
		r.book("b1", on(40, 0), on(40, 30)) // in the log, nothing more
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}

		r = openHookRig(t, dir, "")
		r.hooks.turn <- struct{}{}
		err := r.spreadAll(t.Context()) // it is a delivery now, nothing more
		r.hooks.turn.Unlock()
		if err != nil || r.state(w.ID).Pending != 1 {
			t.Fatalf("%v, %+v", err, r.state(w.ID))
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}

		r = openHookRig(t, dir, "")
		copied := t.TempDir()
		r.hooks.turn <- struct{}{} // it cannot be stored that it was sent
		r.run()
		r.wait(time.Minute)
		for _, name := range []string{Database, SecretFile} {
			file, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(copied, name), file, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		r.hooks.turn.Unlock()
		sent := r.out.take()
		r.stop()

		r = startHookRig(t, copied, "")
		r.wait(time.Minute)
		again := r.out.take()
		if len(sent) != 1 || len(again) != 1 || sent[0].header.Get(webhook.HeaderID) != again[0].header.Get(webhook.HeaderID) || string(sent[0].body) != string(again[0].body) {
			t.Errorf("sent %+v and after the crash %+v", sent, again)
		}
		r.stop()
		r = startHookRig(t, copied, "")
		defer r.stop()
		r.wait(time.Hour)
		sameTold(t, "once it was stored", r.out.told())
	})
}

// TestThousandDrainAtTheReceiversPace queues them while the network is away.
func TestThousandDrainAtTheReceiversPace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t, "", "")
		defer r.stop()
		w := r.hook("a", owner, webhook.BookingCreated)
		r.out.say(func(string, *http.Request) (*http.Response, error) {
			return nil, &net.DNSError{Err: "server misbehaving", Name: "a.example.com", IsTemporary: true}
		})
		r.flood(1000)
		r.wait(time.Second)
		calm := r.db.Stats().Commits
		r.wait(6 * time.Hour)
		if now := r.state(w.ID); now.Pending != 1000 || now.State != webhook.Active {
			t.Fatalf("after six hours without a network: %+v", now)
		}
		looks, commits := len(r.out.take()), r.db.Stats().Commits-calm
		if looks > 6*60+10 || commits > 20 {
			t.Errorf("%d looks for the network and %d commits in six hours", looks, commits)
		}
		t.Logf("%d looks for the network and %d commits in six hours", looks, commits)

		const pace = 50 * time.Millisecond
		r.out.say(func(string, *http.Request) (*http.Response, error) {
			time.Sleep(pace)
			return reply(200, ""), nil
		})
		before := r.db.Stats()
		start := time.Now()
		for r.state(w.ID).Pending > 0 {
			asked := time.Now()
			if _, err := r.Status(room, "o3-sensor", "temperature"); err != nil || time.Since(asked) != 0 {
				t.Fatalf("a status read took %v of virtual time, %v", time.Since(asked), err)
			}
			time.Sleep(pace / 7)
		}
		took, stats := time.Since(start), r.db.Stats()
		got := r.out.take()
		for i, p := range got {
			if want := fmt.Sprintf("f%05d", i); p.data["booking_id"] != want {
				t.Fatalf("the %dth is %v, want %s", i, p.data["booking_id"], want)
			}
		}
		if len(got) != 1000 || took > time.Minute+1000*pace+time.Second {
			t.Errorf("%d in %v, want 1000 within a minute and at the receiver's pace", len(got), took)
		}
		commits = stats.Commits - before.Commits
		if commits > int64(took/time.Second)+5 {
			t.Errorf("%d commits in %v, want at most one a second", commits, took)
		}
		t.Logf("1000 deliveries in %v, %d commits, %d bytes each", took, commits, (stats.BytesWritten-before.BytesWritten)/1000)
	})
}

func TestDeliveriesAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startHookRig(t, dir, "")
		a, b := r.hook("a", owner, webhook.BookingCreated), r.hook("b", owner, webhook.BookingCreated)
		r.out.say(func(host string, _ *http.Request) (*http.Response, error) {
			return reply(map[string]int{"a.example.com": 500, "b.example.com": 200}[host], ""), nil
		})
		for range 3 { // all at once, and what b loses before it has its turn depends on the machine
			r.flood((maxWaiting + 298) / 3)
			r.wait(time.Second)
		}
		r.wait(time.Hour)
		if now := r.state(a.ID); now.Pending != maxWaiting || now.Dropped != 298 {
			t.Errorf("%d wait and %d were dropped", now.Pending, now.Dropped)
		}
		if now := r.state(b.ID); now.Pending != 0 || now.Dropped != 0 || len(r.deliveries(b.ID)) != keepDelivered {
			t.Errorf("%+v with a log of %d", now, len(r.deliveries(b.ID)))
		}
		var seen []string
		for cursor := ""; ; {
			page, next, err := r.Deliveries(a.ID, 150, cursor)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range page {
				seen = append(seen, d.ID)
			}
			if cursor = next; next == "" {
				break
			}
		}
		slices.Reverse(seen)
		if len(seen) != maxWaiting || !slices.IsSorted(seen) || len(slices.Compact(slices.Clone(seen))) != len(seen) {
			t.Errorf("the pages have %d deliveries, want %d in order", len(seen), maxWaiting)
		}
		gone, err := r.delivery(a.ID, seen[0])
		if err != nil {
			t.Fatal(err)
		}
		r.hooks.mu.Lock()
		r.hooks.limit = 500
		r.boundDeliveries()
		r.hooks.mu.Unlock()
		if err := r.requeue(gone); AsError(err) == nil || AsError(err).Code != NotFound {
			t.Errorf("redelivery of what was forgotten meanwhile: %v", err)
		}
		r.stop()
		kept := r.kept(t)
		if len(kept) != 500 {
			t.Errorf("%d are left of a budget of 500", len(kept))
		}
		r = openHookRig(t, dir, "") // and does not run, or it would send
		defer func() { _ = r.Close() }()
		now := r.kept(t)
		if len(now) != 500 || !maps.Equal(now, kept) {
			maps.DeleteFunc(kept, func(key string, state webhook.DeliveryState) bool { return now[key] == state })
			t.Errorf("%d after a restart, want what was left; these differ: %v", len(now), kept)
		}
	})
}

func TestTestDelivery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startHookRig(t, "", "")
		defer r.stop()
		w := r.hook("a", owner, webhook.BookingCreated)
		r.out.always(500, "")
		d, err := r.TestWebhook(t.Context(), w.ID)
		if err != nil || d.State != webhook.Failed || d.Attempts[0].Status != 500 || !d.NextAt.IsZero() {
			t.Errorf("a failed test: %+v, %v", d, err)
		}
		if now := r.state(w.ID); now.State != webhook.Active || now.LastError == "" {
			t.Errorf("after it: %+v", now)
		}
		if _, err := r.Redeliver(t.Context(), w.ID, d.ID); AsError(err).Code != NotNow {
			t.Errorf("redelivery of a test: %v", err)
		}
		r.out.say(nil)
		d, err = r.TestWebhook(t.Context(), w.ID)
		if err != nil || d.State != webhook.Delivered || d.Event != webhook.EventTest {
			t.Errorf("a good test: %+v, %v", d, err)
		}
		r.wait(time.Hour)
		if got, log := r.out.take(), r.deliveries(w.ID); len(got) != 2 || len(log) != 2 || log[0].ID != d.ID || got[1].data["organization_id"] != owner {
			t.Errorf("%d came, the log has %d", len(got), len(log))
		}
		ctx, cancel := context.WithCancel(t.Context())
		r.out.say(func(_ string, req *http.Request) (*http.Response, error) {
			cancel()
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		if _, err := r.TestWebhook(ctx, w.ID); AsError(err).Code != Unavailable || len(r.deliveries(w.ID)) != 2 {
			t.Errorf("a test that nobody waits for: %v", err)
		}
	})
}
