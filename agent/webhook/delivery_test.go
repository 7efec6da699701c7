package webhook

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSchedule(t *testing.T) {
	d := NewDelivery("d", "w", BookingCreated, nil, noon)
	now := noon
	for i, wait := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 24 * time.Hour} {
		d = d.After(Answer{Status: 500, Error: "no"}, now)
		if d.State != Pending || !d.NextAt.Equal(now.Add(wait)) {
			t.Errorf("after failure %d: %s, next in %v, want %v", i+1, d.State, d.NextAt.Sub(now), wait)
		}
		now = d.NextAt
	}
	d = d.After(Answer{Error: "no"}, now)
	if d.State != Failed || !d.NextAt.IsZero() || d.Count != 6 || len(d.Attempts) != 6 {
		t.Errorf("after the last retry: %+v", d)
	}
	again := d.Again(now)
	if again.State != Pending || !again.NextAt.Equal(now) || again.ID != d.ID {
		t.Errorf("redelivered: %+v", again)
	}
	for range 5 {
		again = again.After(Answer{}, now)
	}
	if again.State != Pending || again.Count != 11 || len(again.Attempts) != maxAttempts {
		t.Errorf("a redelivery has all its retries again: %+v", again)
	}
	if done := again.After(Answer{Status: 204}, now); done.State != Delivered || !done.DeliveredAt.Equal(now) || !done.NextAt.IsZero() {
		t.Errorf("delivered: %+v", done)
	}
}

func TestAfterOneAnswer(t *testing.T) {
	for _, c := range []struct {
		what  string
		a     Answer
		state DeliveryState
		wait  time.Duration
	}{
		{"200", Answer{Status: 200}, Delivered, 0},
		{"299", Answer{Status: 299}, Delivered, 0},
		{"302", Answer{Status: 302}, Pending, time.Minute},
		{"304", Answer{Status: 304}, Pending, time.Minute},
		{"410", Answer{Status: 410}, Failed, 0},
		{"404", Answer{Status: 404}, Pending, time.Minute},
		{"a short Retry-After", Answer{Status: 429, RetryAfter: time.Second}, Pending, time.Minute},
		{"a long Retry-After", Answer{Status: 429, RetryAfter: time.Hour}, Pending, time.Hour},
		{"an endless Retry-After", Answer{Status: 503, RetryAfter: 1e6 * time.Hour}, Pending, 24 * time.Hour},
		{"no answer", Answer{}, Pending, time.Minute},
		{"no network", Answer{Offline: true}, Pending, time.Minute},
	} {
		d := NewDelivery("d", "w", BookingCreated, nil, noon).After(c.a, noon)
		if d.State != c.state || c.wait > 0 && !d.NextAt.Equal(noon.Add(c.wait)) {
			t.Errorf("%s: %s, next %v, want %s in %v", c.what, d.State, d.NextAt, c.state, c.wait)
		}
	}
}

func TestNoNetworkIsNotTheReceiversFault(t *testing.T) {
	d := NewDelivery("d", "w", BookingCreated, nil, noon)
	now := noon
	for now.Sub(noon) <= 7*24*time.Hour {
		if d = d.After(Answer{Offline: true, Waited: now.Sub(noon)}, now); d.State != Pending || d.Tries != 0 {
			t.Fatalf("after %v: %s with %d tries", now.Sub(noon), d.State, d.Tries)
		}
		now = d.NextAt
	}
	if d = d.After(Answer{Offline: true, Waited: time.Hour}, now.AddDate(10, 0, 0)); d.State != Pending {
		t.Errorf("by a clock that was set: %s", d.State)
	}
	if d = d.After(Answer{Offline: true, Waited: now.Sub(noon)}, now); d.State != Failed || len(d.Attempts) != maxAttempts {
		t.Errorf("after %v: %s with %d attempts kept", now.Sub(noon), d.State, len(d.Attempts))
	}
}

func TestDeliveryEndsAndIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		d := NewDelivery("d", "w", BookingCreated, nil, now)
		counted := 0
		for d.State == Pending {
			a := Answer{Status: rapid.SampledFrom([]int{0, 199, 301, 400, 429, 500, 503}).Draw(t, "status"), Offline: rapid.Bool().Draw(t, "offline"),
				RetryAfter: time.Duration(rapid.Int64Range(0, 1e18).Draw(t, "retry"))}
			before := d
			d = d.After(a, now)
			if !a.Offline {
				counted++
			}
			if len(d.Attempts) > maxAttempts || d.NextAt.Sub(now) > LongestWait || d.State == Pending && !d.NextAt.After(now) {
				t.Fatalf("%+v after %+v", d, a)
			}
			if len(before.Attempts) > 0 && before.Attempts[0].At.IsZero() {
				t.Fatal("the delivery before was changed")
			}
			if d.State == Pending {
				now = d.NextAt
			}
		}
		if counted > 6 {
			t.Errorf("%d attempts counted", counted)
		}
	})
}

func TestPause(t *testing.T) {
	for _, c := range []struct {
		failures int
		a        Answer
		want     time.Duration
	}{{0, Answer{}, 0}, {1, Answer{}, time.Second}, {3, Answer{}, 4 * time.Second}, {1000, Answer{}, time.Minute},
		{1, Answer{RetryAfter: time.Hour}, time.Hour}} {
		if got := Pause(c.failures, c.a); got != c.want {
			t.Errorf("after %d failures %v, want %v", c.failures, got, c.want)
		}
	}
}
