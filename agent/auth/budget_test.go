package auth

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSince(t *testing.T) {
	unsure := at(time.Hour)
	unsure.Trusted, unsure.Milli = false, 0
	back := after(-time.Hour, true)
	for name, c := range map[string]struct {
		now, then Moment
		want      time.Duration
		known     bool
	}{
		"same run":                   {at(time.Hour), at(0), time.Hour, true},
		"same run, no clock":         {unsure, at(0), time.Hour, true},
		"same run, before":           {at(0), at(time.Hour), -time.Hour, false},
		"next run":                   {after(time.Hour, true), at(0), time.Hour, true},
		"next run, no clock now":     {after(time.Hour, false), at(0), 0, false},
		"next run, no clock then":    {after(2*time.Hour, true), unsure, 0, false},
		"next run, a second before":  {after(-time.Second, true), at(0), 0, true},
		"next run, an hour before":   {back, at(0), 0, false},
		"never, as a budget that is": {at(0), Moment{}, 0, false},
	} {
		got, known := c.now.Since(c.then)
		if known != c.known || known && got != c.want {
			t.Errorf("%s: %v, %v", name, got, known)
		}
	}
}

func TestBudget(t *testing.T) {
	r := Rate{Burst: 2, Every: time.Minute}
	var b Budget
	for i, c := range []struct {
		now  Moment
		wait time.Duration
		ok   bool
	}{
		{at(0), 0, true}, {at(0), 0, true}, {at(0), time.Minute, false},
		{at(30 * time.Second), 30 * time.Second, false}, {at(time.Minute), 0, true}, {at(time.Minute), time.Minute, false},
		{after(time.Hour, false), time.Minute, false}, // time without a clock gives nothing back
		{Moment{Boot: "two", Up: time.Minute}, 0, true},
		{Moment{Boot: "two", Up: day}, 0, true}, {Moment{Boot: "two", Up: day}, 0, true}, {Moment{Boot: "two", Up: day}, time.Minute, false},
	} {
		if wait, ok := b.Take(r, c.now); wait != c.wait || ok != c.ok {
			t.Errorf("step %d: %v, %v, want %v, %v", i, wait, ok, c.wait, c.ok)
		}
	}
	if b.Whole(r, Moment{Boot: "two", Up: day + time.Minute}) || !b.Whole(r, Moment{Boot: "two", Up: day + 2*time.Minute}) {
		t.Error("a budget is whole at the wrong time")
	}
}

// TestBudgetBoundsTheRate takes as fast as it can, through restarts.
func TestBudgetBoundsTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rate{Burst: rapid.IntRange(1, 9).Draw(t, "burst"), Every: time.Duration(rapid.Int64Range(1, 1e12).Draw(t, "every"))}
		var b Budget
		now, taken := at(0), 0
		steps := rapid.SliceOf(rapid.Int64Range(0, 1e12)).Draw(t, "steps")
		for i, step := range steps {
			now.Up += time.Duration(step)
			now.Milli += step / 1e6
			if i%5 == 4 {
				now.Boot, now.Up = now.Boot+"x", 0
			}
			if _, ok := b.Take(r, now); ok {
				taken++
			}
		}
		passed := time.Duration(0)
		for _, step := range steps {
			passed += time.Duration(step)
		}
		if most := float64(r.Burst) + float64(passed)/float64(r.Every) + 0.01; float64(taken) > most {
			t.Errorf("took %d, more than %.2f", taken, most)
		}
	})
}
