package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent"
	"roomgate/agent/eventlog"
)

// Who types what is no code, or a code that does not hold, fills no log: each
// kind is told once, counted for an hour, and then told with its number.
func TestRefusalsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, doors)
		tomorrow := time.Now().Add(24 * time.Hour)
		h.code(agent.UnlockCodeSet{Name: "a", Code: "483920", From: tomorrow})
		h.code(agent.UnlockCodeSet{Name: "b", Code: "483921", From: tomorrow})
		told := func() (first, counted int) {
			events, _, err := h.Events.Find(eventlog.Filter{Type: "codeRefused", Limit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				var r struct {
					Details struct{ Count int } `json:"details"`
				}
				if err := json.Unmarshal(e.Record, &r); err != nil {
					t.Fatal(err)
				}
				if counted += r.Details.Count; r.Details.Count == 0 {
					first++
				}
			}
			return first, counted
		}
		for range 50 {
			for _, code := range []string{"123", "483920", "483921"} {
				h.types(code)
			}
		}
		if first, counted := told(); first != 3 || counted != 0 {
			t.Errorf("at first %d were told and %d counted, want 3 and none", first, counted)
		}
		h.pass(time.Hour)
		if first, counted := told(); first != 3 || counted != 147 {
			t.Errorf("after an hour %d were told and %d counted, want 3 and 147", first, counted)
		}
		h.types("123")
		h.types("123")
		h.restart()
		if first, counted := told(); first != 4 || counted != 148 {
			t.Errorf("after a restart %d were told and %d counted, want 4 and 148", first, counted)
		}
	})
}

// Somebody who may lifts a lock-out, and it stays lifted.
func TestLockoutIsLifted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, doors)
		h.code(agent.UnlockCodeSet{Name: "a", Code: "483920"})
		for i := range 5 {
			h.types(fmt.Sprint(111110 + i))
		}
		h.refused("483920", "locked out")
		if err := h.LiftLockout(t.Context(), aurora, "ada"); err != nil {
			t.Fatal(err)
		}
		h.restart()
		h.opens("483920")
		if types, text := h.events(); !slices.Contains(types, "codeLockoutLifted") || !strings.Contains(text, `"by":"ada"`) {
			t.Errorf("told %s", text)
		}
		if e := agent.AsError(h.LiftLockout(t.Context(), borealis, "ada")); e == nil || e.Code != agent.NotFound {
			t.Errorf("a room without a lock: %v", e)
		}
	})
}
