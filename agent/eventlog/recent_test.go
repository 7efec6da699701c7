package eventlog

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"roomgate/store"
)

// TestRecent: who looks again sees the same as who looks for the first time, and only what
// is new is read for him, however far back what he looks for is.
func TestRecent(t *testing.T) {
	l := open(t, 10_000)
	var r Recent
	f := Filter{Type: "rare", Limit: 3}
	look := func(f Filter) (kinds []string) {
		t.Helper()
		got, err := r.Look(l, f)
		want, _, e := l.Latest(f)
		if err != nil || e != nil || !slices.EqualFunc(got, want, func(x, y Event) bool { return x.Cursor == y.Cursor }) {
			t.Fatalf("%+v, %v; want %+v, %v", got, err, want, e)
		}
		for i := range got {
			kinds = append(kinds, fmt.Sprint(got[i].Cursor))
			got[i] = Event{} // what is made of a result is in no other one
		}
		return kinds
	}
	look(f)
	l.tell(t, "rare", "other", "rare", "rare", "rare")
	if got := look(f); !slices.Equal(got, []string{"3", "4", "5"}) {
		t.Errorf("it sees %q", got)
	}
	err := l.db.Update(t.Context(), func(tx *store.Tx) error {
		for range 3000 {
			if err := l.Tell(tx, Record{Type: "other", Time: time.Unix(1, 0)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	look(f)
	if fresh, again := testing.AllocsPerRun(3, func() { _, _, _ = l.Latest(f) }), testing.AllocsPerRun(3, func() { _, _ = r.Look(l, f) }); again > 200 || fresh < 3000 {
		t.Errorf("to look again takes %.0f allocations, and for the first time %.0f", again, fresh)
	}
	l.tell(t, "rare")
	look(f)
	look(Filter{Type: "other", Limit: 2})
	look(Filter{})
}
