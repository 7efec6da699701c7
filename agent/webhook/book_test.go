package webhook

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestDeliveryListsFollowAModel puts, drops and pages the deliveries of a
// webhook against a plain list.
func TestDeliveryListsFollowAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &hook{}
		b := &book{byID: map[string]*hook{"w": w}}
		model := map[string]DeliveryState{}
		ids := rapid.Map(rapid.IntRange(0, 30), func(n int) string { return fmt.Sprintf("%010x-r", n) })
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				d := Delivery{ID: ids.Draw(t, "id"), State: rapid.SampledFrom([]DeliveryState{Pending, Delivered, Failed}).Draw(t, "state")}
				model[d.ID] = d.State
				w.put(d)
			},
			"drop": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				_, known := model[id]
				delete(model, id)
				if w.drop(id) != known || b.has("w", id) {
					t.Fatalf("dropping %s, known is %v", id, known)
				}
			},
			"": func(t *rapid.T) {
				var want, got []string
				pending := 0
				for id, state := range model {
					want = append(want, id)
					if state == Pending {
						pending++
					}
				}
				slices.Sort(want)
				slices.Reverse(want)
				limit := rapid.IntRange(1, 12).Draw(t, "limit")
				for cursor := ""; ; {
					page, more, err := b.page("w", limit, cursor)
					if err != nil || len(page) > limit || more && len(page) < limit {
						t.Fatalf("a page of %d with more %v, %v", len(page), more, err)
					}
					if got = append(got, page...); !more {
						break
					}
					cursor = page[len(page)-1]
				}
				if !slices.Equal(got, want) || len(w.waiting) != pending {
					t.Fatalf("paged %v, want %v", got, want)
				}
			},
		})
	})
}

func TestFirstIsTheOldestThatIsDue(t *testing.T) {
	now := on(12, 0)
	w := func(rest time.Duration, dues ...time.Duration) *hook {
		h := &hook{rest: now.Add(rest)}
		for i, due := range dues {
			h.waiting = append(h.waiting, waitingDelivery{fmt.Sprint(i), now.Add(due)})
		}
		return h
	}
	busy, disabled := w(0, 0), w(0, 0)
	busy.busy, disabled.State = true, Disabled
	for what, c := range map[string]struct {
		h  *hook
		id string
		in time.Duration
	}{
		"nothing":                {w(0), "", 0},
		"all are due":            {w(-1, -5, -9, 0), "0", -1},
		"the first waits":        {w(-1, time.Minute, 0, 0), "1", 0},
		"all wait":               {w(-1, time.Hour, time.Minute, time.Hour), "1", time.Minute},
		"the receiver rests":     {w(time.Hour, 0, time.Minute), "0", time.Hour},
		"the clock was set back": {w(100*time.Hour, 100*time.Hour), "0", 0},
		"it is told something":   {busy, "", 0},
		"it is disabled":         {disabled, "", 0},
	} {
		if id, at := c.h.first(now); id != c.id || id != "" && at.Sub(now) != c.in {
			t.Errorf("%s: %q in %v, want %q in %v", what, id, at.Sub(now), c.id, c.in)
		}
	}
}
