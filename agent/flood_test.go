package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/problem"
)

// written is what f writes: rows of the log and bytes.
func (r *rig) written(f func()) (rows uint64, bytes int64) {
	r.t.Helper()
	last, before := r.mustLast(), r.db.Stats().BytesWritten
	f()
	return uint64(r.mustLast()) - uint64(last), r.db.Stats().BytesWritten - before
}

// TestFloodsWearNoCardOut: who has the broker and no key sends without end what is refused, what came before, and what is
// taken. Neither pushes the audit out of the log nor wears the card out, where signatures are wanted.
func TestFloodsWearNoCardOut(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 22,000 messages and six hours of more")
	}
	schedule := func(kind string, revision int) string {
		return fmt.Sprintf(`{"meeting_space_id":%q,"revision":%d,"kind":%q,"bookings":[]}`, room, revision, kind)
	}
	const first = 5
	for _, c := range []struct {
		what, level string
		data        func(i int) string
		n           int
		rows        uint64 // at once, at most
		bytes       int64
		later       uint64 // rows, in six hours after that
	}{
		{"deltas that leave a gap", "schedule", func(i int) string { return schedule("delta", first+2+i) }, 2000, 300, 6 << 20, 1100},
		{"deltas that came twice", "schedule", func(int) string { return schedule("delta", first) }, 2000, 300, 6 << 20, 725},
		{"empty snapshots", "schedule", func(i int) string { return schedule("snapshot", first+1+i) }, 8000, 6300, 120 << 20, (8700 + 2900) / 4},
		{"configurations", "config", func(i int) string { return fmt.Sprintf(`{"revision":%d,"reconnect_spread_s":%d}`, 1+i, i%60) }, 5000, 6300, 100 << 20, (2*1500 + 2900) / 4},
		{"configurations in one part", "config", func(i int) string {
			return fmt.Sprintf(`{"revision":%d,"reconnect_spread_s":%d,"part":1,"of":1,"whole":"w%d"}`, 1+i, i%60, i)
		}, 5000, 5000, 110 << 20, (3*800 + 2900) / 4},
	} {
		t.Run(c.what, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startGuarded(t, withDoor)
				r.down("schedule", "first", schedule("snapshot", first), time.Now())
				next := 0
				flood := func() {
					r.down(c.level, fmt.Sprint("f", next), c.data(next), time.Now())
					next++
				}
				began := time.Now()
				rows, bytes := r.written(func() {
					for range c.n {
						flood()
					}
				})
				t.Logf("%s: %d at once wrote %d rows and %d bytes", c.what, c.n, rows, bytes)
				if rows > c.rows || bytes > c.bytes {
					t.Errorf("%s: %d at once wrote %d rows and %d bytes, want at most %d and %d", c.what, c.n, rows, bytes, c.rows, c.bytes)
				}
				// Six hours of it, of which the bound is the same for any number in a second.
				rows, bytes = r.written(func() {
					for time.Since(began) < 6*time.Hour {
						flood()
						r.wait(9 * time.Second)
					}
				})
				t.Logf("%s: six hours wrote %d rows and %d bytes", c.what, rows, bytes)
				if rows > c.later {
					t.Errorf("%s: six hours wrote %d rows, want at most %d", c.what, rows, c.later)
				}
			})
		})
	}
}

// TestBudgetFitsACloud: what a cloud sends after an outage, and bookings of a busy minute, are taken; what is too much hears
// when to send it again, and is taken then.
func TestBudgetFitsACloud(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, withDoor)
		revision := 0
		send := func(kind string, bookings ...string) *device.Receipt {
			revision++
			id := fmt.Sprint("s", revision)
			r.down("schedule", id, fmt.Sprintf(`{"meeting_space_id":%q,"revision":%d,"kind":%q,"bookings":[%s]}`, room, revision, kind, strings.Join(bookings, ",")), time.Now())
			all := r.receipts(id)
			if len(all) != 1 {
				return nil
			}
			return &all[0]
		}
		for range 50 { // as many as there are rooms
			var all []string
			for i := range 300 {
				from := on(9, 0).AddDate(0, 0, 1+i)
				all = append(all, slot(fmt.Sprint("b", i), from, from.Add(time.Hour), fmt.Sprintf(`"title":"%d %s"`, revision, strings.Repeat("x", 150))))
			}
			if got := send("snapshot", all...); got == nil || got.State != device.Done {
				t.Fatalf("snapshot %d: %+v", revision, got)
			}
		}
		for range 5 * 60 {
			if got := send("delta", slot("one", on(9, 0), on(10, 0), fmt.Sprintf(`"title":"%d"`, revision))); got == nil || got.State != device.Done {
				t.Fatalf("delta %d: %+v", revision, got)
			}
			r.wait(200 * time.Millisecond)
		}
		for range 7000 {
			if got := send("snapshot"); got == nil || got.State != device.Done {
				if got == nil || got.Code != problem.Busy || !strings.Contains(got.Reason, "send it again in ") {
					t.Fatalf("snapshot %d: %+v", revision, got)
				}
				r.wait(time.Minute)
				if got := send("snapshot"); got == nil || got.State != device.Done {
					t.Errorf("a minute later: %+v", got)
				}
				return
			}
		}
		t.Errorf("%d messages were taken", revision)
	})
}
