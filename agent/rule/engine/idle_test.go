package engine

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"roomgate/agent/rule"
	"roomgate/drivers"
)

// TestNoRulesReadNothing: a building without rules does not look into the log
// while nobody wakes it, so it does not notice that the store is gone.
func TestNoRulesReadNothing(t *testing.T) {
	for _, rules := range []int{0, 1} {
		bubble(t, func(t *testing.T) {
			r := openRig(t, rigOptions{yaml: zoned})
			if rules > 0 {
				r.addRule(rule.Rule{Trigger: rule.Trigger{Event: "occupancyChanged"}, Actions: []rule.Action{{Event: "a"}}})
			}
			ctx, cancel := context.WithCancel(t.Context())
			var run sync.WaitGroup
			run.Go(func() { r.Run(ctx) })
			r.wait(time.Second)
			r.close()
			r.wait(time.Hour)
			cancel()
			run.Wait()
			if noticed := strings.Contains(r.log.String(), "cannot store what rules do"); noticed != (rules > 0) {
				t.Errorf("with %d rules: noticed %v", rules, noticed)
			}
		})
	}
}

// The first rule by time is not asked about the time before it was made.
func TestFirstRuleByTimeDoesNotLookBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startAt(t, rigOptions{yaml: zoned}, time.Date(2026, 11, 23, 6, 28, 30, 0, time.UTC))
		r.wait(5 * time.Minute)
		u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Time: "30,40 7 * * *"}, Actions: []rule.Action{{Event: "a"}}})
		r.wait(time.Hour)
		if got := strings.Join(r.ticks(u.ID), ", "); got != "held 07:40 CET" {
			t.Errorf("it ran %s", got)
		}
	})
}

// TestRunsAreShownBeforeAnybodyIsWoken: who follows the log and sees what a rule
// did finds it in the rule's log, and its message in the book.
func TestRunsAreShownBeforeAnybodyIsWoken(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		u := r.addRule(rule.Rule{Trigger: rule.Trigger{Event: "occupancyChanged"},
			Actions: []rule.Action{{Event: "welcome"}, {To: rule.To{UserID: "ada"}, Message: "look"}}})
		var woken atomic.Int32
		r.grown = func() {
			if !strings.Contains(strings.Join(r.told(), " "), "rule.welcome") {
				return
			}
			woken.Add(1)
			runs, err := r.Runs(u.ID)
			if err != nil || len(runs) != 1 {
				t.Errorf("%d runs are shown, %v", len(runs), err)
				return
			}
			if _, err := r.Engine.o.Messages.Get(runs[0].Actions[1].MessageID); err != nil {
				t.Error(err)
			}
		}
		r.run()
		r.wait(3 * time.Second)
		r.enters(drivers.Occupied)
		if woken.Load() == 0 {
			t.Error("nobody was woken")
		}
	})
}
