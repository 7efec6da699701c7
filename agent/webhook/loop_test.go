package webhook

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/problem"
	"roomgate/agent/webhook/webhooktest"
	"roomgate/store"
)

func TestRetriesAreThePlatforms(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		w := r.hook("a", owner, BookingCreated)
		r.out.Always(500, "")
		start := time.Now()
		r.book("b1", 40)
		r.wait(26*time.Hour + 35*time.Minute)
		if now := r.state(w.ID); now.State != Active || now.Pending != 1 || r.happened(eventFailing) != 0 {
			t.Errorf("before the last retry: %+v", now)
		}
		r.wait(2 * time.Minute)
		var at []time.Duration
		ids := map[string]bool{}
		for _, p := range r.out.Take() {
			at = append(at, p.At.Sub(start))
			ids[p.Header.Get(HeaderID)] = true
		}
		want := []time.Duration{0, time.Minute, 6 * time.Minute, 36 * time.Minute, 156 * time.Minute, 1596 * time.Minute}
		if !slices.Equal(at, want) || len(ids) != 1 {
			t.Errorf("sent at %v with %d ids, want %v with one", at, len(ids), want)
		}
		now, log := r.state(w.ID), r.deliveries(w.ID)
		if now.State != Failing || now.Reason == "" || now.LastError == "" || r.happened(eventFailing) != 1 {
			t.Errorf("after the last retry: %+v", now)
		}
		if len(log) != 1 || log[0].State != Failed || log[0].Count != 6 || log[0].Attempts[5].Status != 500 {
			t.Errorf("the log: %+v", log)
		}

		r.out.Say(nil) // the receiver is back
		r.book("b2", 41)
		r.wait(time.Minute)
		r.wantLines("a failing webhook is still told", "a booking.created b2")
		if now := r.state(w.ID); now.State != Active || now.Reason != "" || r.happened(eventRecovered) != 1 {
			t.Errorf("after a success: %+v", now)
		}
		if d, err := r.Redeliver(t.Context(), w.ID, log[0].ID); err != nil || d.State != Pending {
			t.Errorf("redelivered: %+v, %v", d, err)
		}
		r.wait(time.Millisecond)
		again := r.out.Take()
		if len(again) != 1 || !ids[again[0].Header.Get(HeaderID)] {
			t.Errorf("redelivery came as %+v", again)
		}
		if log := r.deliveries(w.ID); len(log) != 2 || log[1].State != Delivered || log[1].Count != 7 {
			t.Errorf("the log after it: %+v", log)
		}
	})
}

func TestGoneDisables(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		w := r.hook("a", owner, BookingCreated)
		r.out.Always(500, "")
		r.book("b1", 40) // waits for its retry
		r.wait(time.Second)
		r.out.Always(410, "")
		r.book("b2", 41)
		r.wait(2 * time.Second)
		if now := r.state(w.ID); now.State != Disabled || now.Pending != 1 || !strings.Contains(now.Reason, "410") || r.happened(eventDisabled) != 1 {
			t.Errorf("after 410: %+v", now)
		}
		r.out.Take()
		r.out.Say(nil)
		r.book("b3", 42)
		r.wait(time.Hour)
		r.wantLines("disabled")
		if _, err := r.Redeliver(t.Context(), w.ID, r.deliveries(w.ID)[0].ID); problem.As(err).Code != problem.NotNow {
			t.Errorf("redelivery to a disabled webhook: %v", err)
		}
		on := Active
		if _, err := r.Change(t.Context(), w.ID, Change{State: &on}); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Second)
		r.wantLines("enabled again, what waited goes", "a booking.created b1")
	})
}

func TestRetryAfterCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		r.hook("a", owner, BookingCreated)
		r.out.Always(429, "600")
		start := time.Now()
		r.book("b1", 40)
		r.wait(time.Second)
		r.out.Say(nil)
		r.book("b2", 41) // has to wait too: the receiver has asked for quiet
		r.wait(20 * time.Minute)
		got := r.out.Take()
		if len(got) != 3 || got[1].At.Sub(start) != 10*time.Minute || got[2].At.Sub(start) != 10*time.Minute || got[1].Data["booking_id"] != "b1" {
			t.Errorf("came %+v", got)
		}
	})
}

// TestHangingReceiverDelaysNobody has one that never answers, one that fails
// and a good one.
func TestHangingReceiverDelaysNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		hang := func(_ string, req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}
		r.out.Say(func(host string, req *http.Request) (*http.Response, error) {
			if host == "good.example.com" {
				return webhooktest.Reply(200, ""), nil
			}
			return hang(host, req)
		})
		for i := range maxWebhooksOfOrg - 1 {
			r.hook(fmt.Sprint("bad", i), owner, BookingCreated)
		}
		r.hook("good", owner, BookingCreated)
		r.book("b0", 40) // who hangs is known after this one
		r.wait(time.Minute)
		for i := range 10 {
			start := time.Now()
			r.book(fmt.Sprint("b", i+1), 41+i)
			r.wait(time.Second)
			for _, p := range r.out.Take() {
				if p.Host == "good.example.com" && p.At.Sub(start) > 0 {
					t.Errorf("the good receiver was told after %v", p.At.Sub(start))
				}
			}
		}
		r.wait(30 * time.Second)
		for _, w := range r.List("") {
			if good := strings.Contains(w.URL, "good"); good != (w.Pending == 0) {
				t.Errorf("%s has %d pending", w.URL, w.Pending)
			}
		}
	})
}

func TestUntrustedClockHoldsDeliveries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir, trust: clock.Never})
		w := r.hook("a", owner, BookingCreated)
		r.book("b1", 40)
		r.wait(time.Hour)
		r.wantLines("without a clock")
		if _, err := r.Test(t.Context(), w.ID); problem.As(err).Code != problem.NotNow {
			t.Errorf("a test without a clock: %v", err)
		}
		if _, _, err := r.Rotate(t.Context(), w.ID, "", Overlap); problem.As(err).Code != problem.NotNow {
			t.Errorf("a rotation without a clock: %v", err)
		}
		if now := r.state(w.ID); now.Pending != 1 || len(r.deliveries(w.ID)) != 1 {
			t.Errorf("%+v", now)
		}
		r.stop()
		r = startRig(t, rigOptions{dir: dir})
		defer r.stop()
		r.wait(time.Second)
		r.wantLines("with one", "a booking.created b1")
	})
}

// TestCrashBetween ends the process at each step from the booking to the
// receiver: it is told once, or again with the same id if it was told already.
func TestCrashBetween(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, rigOptions{dir: dir})
		w := r.hook("a", owner, BookingCreated)
		r.book("b1", 40) // in the log, nothing more
		if err := r.close(); err != nil {
			t.Fatal(err)
		}

		r = openRig(t, rigOptions{dir: dir})
		r.turn <- struct{}{}
		err := r.fanOutAll(t.Context()) // it is a delivery now, nothing more
		r.turn.Unlock()
		if err != nil || r.state(w.ID).Pending != 1 {
			t.Fatalf("%v, %+v", err, r.state(w.ID))
		}
		if err := r.close(); err != nil {
			t.Fatal(err)
		}

		r = openRig(t, rigOptions{dir: dir})
		copied := t.TempDir()
		r.turn <- struct{}{} // it cannot be stored that it was sent
		r.run()
		r.wait(time.Minute)
		file, err := os.ReadFile(r.path)
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, filepath.Base(r.path)), file, 0o600)
		}
		r.must(err)
		r.turn.Unlock()
		sent := r.out.Take()
		r.stop()

		r = startRig(t, rigOptions{dir: copied})
		r.wait(time.Minute)
		again := r.out.Take()
		if len(sent) != 1 || len(again) != 1 || sent[0].Header.Get(HeaderID) != again[0].Header.Get(HeaderID) || string(sent[0].Body) != string(again[0].Body) {
			t.Errorf("sent %+v and after the crash %+v", sent, again)
		}
		r.stop()
		r = startRig(t, rigOptions{dir: copied})
		defer r.stop()
		r.wait(time.Hour)
		r.wantLines("once it was stored")
	})
}

// TestThousandDrainAtTheReceiversPace queues them while the network is away.
func TestThousandDrainAtTheReceiversPace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		defer r.stop()
		w := r.hook("a", owner, BookingCreated)
		r.out.Say(func(string, *http.Request) (*http.Response, error) {
			return nil, &net.DNSError{Err: "server misbehaving", Name: "a.example.com", IsTemporary: true}
		})
		r.flood(1000)
		r.wait(time.Second)
		calm := r.db.Stats().Commits
		r.wait(6 * time.Hour)
		if now := r.state(w.ID); now.Pending != 1000 || now.State != Active {
			t.Fatalf("after six hours without a network: %+v", now)
		}
		looks, commits := len(r.out.Take()), r.db.Stats().Commits-calm
		if looks > 6*60+10 || commits > 20 {
			t.Errorf("%d looks for the network and %d commits in six hours", looks, commits)
		}
		t.Logf("%d looks for the network and %d commits in six hours", looks, commits)

		const pace = 50 * time.Millisecond
		r.out.Say(func(string, *http.Request) (*http.Response, error) {
			time.Sleep(pace)
			return webhooktest.Reply(200, ""), nil
		})
		before := r.db.Stats()
		start := time.Now()
		for r.state(w.ID).Pending > 0 {
			asked := time.Now()
			if err := r.db.View(func(tx *store.Tx) error { _, err := webhooks.Get(tx, w.ID); return err }); err != nil || time.Since(asked) != 0 {
				t.Fatalf("a read of the store took %v of virtual time, %v", time.Since(asked), err)
			}
			time.Sleep(pace / 7)
		}
		took, stats := time.Since(start), r.db.Stats()
		got := r.out.Take()
		for i, p := range got {
			if want := fmt.Sprintf("f%05d", i); p.Data["booking_id"] != want {
				t.Fatalf("the %dth is %v, want %s", i, p.Data["booking_id"], want)
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
