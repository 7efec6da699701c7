package unlock

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
)

// Who types what is no code, or a code that does not hold, fills no log: each
// kind is told once, counted for an hour, and then told with its number.
func TestRefusalsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		tomorrow := time.Now().Add(24 * time.Hour)
		r.code(Request{Name: "a", Code: "483920", From: tomorrow})
		r.code(Request{Name: "b", Code: "483921", From: tomorrow})
		told := func() (first, counted int) {
			events, _, err := r.log.Find(eventlog.Filter{Type: "codeRefused", Limit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				var record struct {
					Details struct{ Count int } `json:"details"`
				}
				if err := json.Unmarshal(e.Record, &record); err != nil {
					t.Fatal(err)
				}
				if counted += record.Details.Count; record.Details.Count == 0 {
					first++
				}
			}
			return first, counted
		}
		for range 50 {
			for _, code := range []string{"123", "483920", "483921"} {
				r.types(code)
			}
		}
		if first, counted := told(); first != 3 || counted != 0 {
			t.Errorf("at first %d were told and %d counted, want 3 and none", first, counted)
		}
		r.pass(time.Hour)
		if first, counted := told(); first != 3 || counted != 147 {
			t.Errorf("after an hour %d were told and %d counted, want 3 and 147", first, counted)
		}
		r.types("123")
		r.types("123")
		r.restart()
		if first, counted := told(); first != 4 || counted != 148 {
			t.Errorf("after a restart %d were told and %d counted, want 4 and 148", first, counted)
		}
	})
}

// Somebody who may lifts a lock-out, and it stays lifted.
func TestLockoutIsLifted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		r.code(Request{Name: "a", Code: "483920"})
		for i := range 5 {
			r.types(fmt.Sprint(111110 + i))
		}
		r.refused("483920", "locked out")
		if err := r.LiftLockout(t.Context(), aurora, "ada"); err != nil {
			t.Fatal(err)
		}
		r.restart()
		r.opens("483920")
		if types, text := r.events(); !slices.Contains(types, "codeLockoutLifted") || !strings.Contains(text, `"by":"ada"`) {
			t.Errorf("told %s", text)
		}
		if e := problem.As(r.LiftLockout(t.Context(), borealis, "ada")); e == nil || e.Code != problem.NotFound {
			t.Errorf("a room without a lock: %v", e)
		}
	})
}
