package rollout

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever gateways do and whoever pauses and resumes: nobody comes before the canaries are
// over, no more per minute than the plan says, nobody after a stop, and it ends.
func TestPlanProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 60).Draw(t, "gateways")
		p := Plan{Canary: rapid.IntRange(0, 5).Draw(t, "canary"), PerMinute: float64(rapid.IntRange(1, 600).Draw(t, "rate")), TimeoutS: 60,
			Growth: float64(rapid.IntRange(0, 3).Draw(t, "growth")), GrowAfter: rapid.IntRange(0, 5).Draw(t, "grow after"),
			StopShare: float64(rapid.IntRange(0, 4).Draw(t, "share")) / 4, StopAfter: rapid.IntRange(0, 10).Draw(t, "after")}
		p.Most = 2 * p.PerMinute
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		r := &Rollout{Plan: p, State: Running, Counts: Counts{Waiting: total}}
		began := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
		now, after, states := began, 0, map[string]int{} // after: sent after the canaries
		for range 400 {
			now = now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
			before, was := r.Counts, r.State
			n := r.due(now)
			canaries := min(p.Canary, total)
			if n > 0 && (was != Running || n > before.Waiting) {
				t.Fatalf("%d are due of %+v while it is %s", n, before, was)
			}
			if sent := total - before.Waiting; n > 0 && sent < canaries && sent+n > canaries || n > 0 && sent >= canaries && before.ended() < canaries {
				t.Fatalf("%d more are due before the %d canaries are over: %+v", n, canaries, before)
			} else if sent >= canaries {
				after += n
			}
			if most := p.Most*(now.Sub(began)+burst).Minutes() + 1; float64(after) > most {
				t.Fatalf("%d were sent it after %v: at most %v go", after, now.Sub(began), most)
			}
			for range n {
				r.moved(stepWaiting, stepSent)
			}
			if r.Counts.Sent > 0 && rapid.Bool().Draw(t, "answers") {
				to := rapid.SampledFrom([]string{stepTaken, stepTaken, stepRefused, stepLate}).Draw(t, "to")
				r.moved(stepSent, to)
			}
			if r.Counts.Late > 0 && rapid.IntRange(0, 9).Draw(t, "comes late") == 0 {
				r.moved(stepLate, stepTaken)
			}
			if r.State != Running && !r.over() && rapid.Bool().Draw(t, "resume") {
				if err := r.turn(Running); err != nil {
					t.Fatal(err)
				}
			} else if rapid.IntRange(0, 20).Draw(t, "pause") == 0 {
				_ = r.turn(Paused)
			}
			if c := r.Counts; c.Waiting+c.Sent+c.ended() != total || min(c.Waiting, c.Sent, c.Taken, c.Refused, c.Late) < 0 {
				t.Fatalf("%d gateways became %+v", total, c)
			}
			states[r.State]++
		}
		if r.State == Done && r.Counts.Waiting+r.Counts.Sent > 0 {
			t.Fatalf("it is done, and some wait: %+v", r.Counts)
		}
	})
}

// A rollout stops at its share of failures and not before the minimum, and once somebody has
// resumed it not for the same failures again.
func TestStopsAtAShare(t *testing.T) {
	t.Parallel()
	r := &Rollout{Plan: Plan{PerMinute: 60, StopShare: 0.25, StopAfter: 4, TimeoutS: 60}, State: Running, Counts: Counts{Sent: 20}}
	for i, c := range []struct{ to, state string }{
		{stepRefused, Running}, {stepTaken, Running}, {stepTaken, Running}, {stepTaken, Stopped},
	} {
		if r.moved(stepSent, c.to); r.State != c.state {
			t.Fatalf("after answer %d it is %s: want %s", i+1, r.State, c.state)
		}
	}
	if r.Why != "1 of 4 gateways have not taken it" {
		t.Errorf("why: %q", r.Why)
	}
	if err := r.turn(Running); err != nil || r.State != Running {
		t.Fatalf("%v, %s", err, r.State)
	}
	for range 3 {
		r.moved(stepSent, stepTaken)
	}
	if r.moved(stepSent, stepLate); r.State != Stopped {
		t.Errorf("1 of 4 after it was resumed, and it is %s", r.State)
	}
}

// The pace grows with those who have taken it, up to the most.
func TestPaceGrows(t *testing.T) {
	t.Parallel()
	p := Plan{Canary: 2, PerMinute: 10, Growth: 2, GrowAfter: 5, Most: 30}
	for taken, want := range map[int]time.Duration{0: 6 * time.Second, 6: 6 * time.Second, 7: 3 * time.Second, 12: 2 * time.Second, 1000: 2 * time.Second} {
		if got := p.pace(taken); got != want {
			t.Errorf("after %d the next comes in %v: want %v", taken, got, want)
		}
	}
}

func TestPlanRefused(t *testing.T) {
	t.Parallel()
	good := Plan{Canary: 1, PerMinute: 10, TimeoutS: 60}
	for want, change := range map[string]func(*Plan){
		"canary is -1: want 0 or more":                         func(p *Plan) { p.Canary = -1 },
		"per_minute is 0: want more than 0 and at most 10000":  func(p *Plan) { p.PerMinute = 0 },
		"growth is 0.5: want 1 to 10":                          func(p *Plan) { p.Growth = 0.5 },
		"grow_after is -1: want 0 or more":                     func(p *Plan) { p.GrowAfter = -1 },
		"most_per_minute is 5: want per_minute to 10000":       func(p *Plan) { p.Most = 5 },
		"stop_share is 2: want 0 to 1":                         func(p *Plan) { p.StopShare = 2 },
		"stop_after is -1: want 0 or more":                     func(p *Plan) { p.StopAfter = -1 },
		"timeout_s is out of range: want 1 second to 30 days":  func(p *Plan) { p.TimeoutS = 0 },
		"timeout_s is out of range: want 1 second to 30 days ": func(p *Plan) { p.TimeoutS = 31 * 86400 },
	} {
		p := good
		change(&p)
		if err := p.Check(); err == nil || err.Error() != want && err.Error()+" " != want {
			t.Errorf("%+v: %v, want %s", p, err, want)
		}
	}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
}
