package schedule

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/cloud"
)

// planRig is a building with a schedule that nobody runs.
func planRig(b *testing.B) *rig {
	b.Helper()
	r := openRig(b, rigOptions{yaml: strings.Replace(planned, "spaces:", "store: {events: 100000}\nspaces:", 1)})
	b.Cleanup(func() { _ = r.Close() })
	return r
}

// tomorrow is the begin of the day after this one.
func tomorrow() time.Time { return time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }

// BenchmarkCreateBooking is bookings that are durable, each acknowledged alone,
// beside a commit of bbolt itself with rows of the same sizes. The goal is 0.9
// of bbolt.
func BenchmarkCreateBooking(b *testing.B) {
	r := planRig(b)
	bare := openBare(b)
	start := tomorrow()
	var ours, limit time.Duration
	sizes := rowSizes(b, r)
	n := 0
	for b.Loop() {
		from := start.Add(time.Duration(n%15_000) * 15 * time.Minute)
		asked := booking.Booking{SpaceID: room, Title: "weekly", Organizer: booking.Person{Name: "A. Person", Email: "a@example.org"}, Start: from, End: from.Add(15 * time.Minute)}
		began := time.Now()
		made, _, err := r.Create(b.Context(), asked, Caller{By: "lobby"})
		if err != nil {
			b.Fatal(err)
		}
		between := time.Now()
		bare.put(b, sizes, made.ID)
		limit += time.Since(between)
		ours += between.Sub(began)
		if n++; n%15_000 == 0 {
			p := r.Room(room)
			for _, old := range p.bookings.All(time.Time{}, time.Time{}) {
				p.bookings.Forget(old.ID)
			}
		}
	}
	b.ReportMetric(float64(n)/ours.Seconds(), "bookings/s")
	b.ReportMetric(limit.Seconds()/ours.Seconds(), "of-bbolt")
}

// rowSizes are those of a booking, its event and what tells the cloud of it.
func rowSizes(b *testing.B, r *rig) (sizes [3]int) {
	b.Helper()
	s := r.Room(room)
	m := meeting("01JDZ0000000000000000000ZZ", tomorrow(), tomorrow().Add(time.Hour))
	m.Title, m.Organizer = "weekly", booking.Person{Name: "A. Person", Email: "a@example.org"}
	m, err := booking.New(m, s.terms.Load().rules, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	stored, err1 := json.Marshal(storedBooking{Booking: m})
	event, err2 := s.bookingEvent(edit{Booking: m, event: Created, more: map[string]any{"by": "lobby"}}, time.Now())
	told, err3 := s.bookingRow(m, time.Now())
	if err1 != nil || err2 != nil || err3 != nil {
		b.Fatal(err1, err2, err3)
	}
	return [3]int{len(stored) + 5, len(encoded(b, event)) + 5, len(encoded(b, told)) + 5}
}

// encoded is a row as it is stored.
func encoded(b *testing.B, row eventlog.Row) []byte {
	b.Helper()
	text, err := row.AppendJSON(nil)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// bareStore is bbolt with nothing around it, opened as the store opens it.
type bareStore struct {
	db   *bbolt.DB
	next uint64
}

func openBare(b *testing.B) *bareStore {
	b.Helper()
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, PageSize: 4096})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return &bareStore{db: db}
}

// put commits a booking and two rows of the log.
func (s *bareStore) put(b *testing.B, sizes [3]int, id string) {
	err := s.db.Update(func(tx *bbolt.Tx) error {
		table, err := tx.CreateBucketIfNotExists([]byte("bookings"))
		if err != nil {
			return err
		}
		if err := table.Put([]byte(id), make([]byte, sizes[0])); err != nil {
			return err
		}
		log, err := tx.CreateBucketIfNotExists([]byte("log"))
		if err != nil {
			return err
		}
		for _, size := range sizes[1:] {
			s.next++
			if err := log.Put(binary.BigEndian.AppendUint64(nil, s.next), make([]byte, size)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// bigSnapshot is a message with so many bookings.
func bigSnapshot(b *testing.B, revision, n int) []byte {
	b.Helper()
	all := make([]string, n)
	start := tomorrow()
	for i := range all {
		from := start.Add(time.Duration(i) * 15 * time.Minute)
		all[i] = slot(fmt.Sprintf("m%05d", (i*7919)%n), from, from.Add(15*time.Minute), fmt.Sprintf(`"title":"weekly %d"`, revision),
			fmt.Sprintf(`"revision":%d`, revision), `"organizer":{"name":"A. Person","email":"a@example.org"}`)
	}
	payload, err := said(fmt.Sprint("s", revision), kindSnapshot, revision, strings.Join(all, ",")).Encode()
	if err != nil {
		b.Fatal(err)
	}
	return payload
}

// BenchmarkSnapshot is a message of 10 000 bookings, all new or all changed,
// from its bytes until it is stored, and what a reader of the sign waits
// meanwhile. The goals are 1 s, and no more waiting than when nothing happens.
func BenchmarkSnapshot(b *testing.B) {
	const n = 10_000
	r := planRig(b)
	quiet := func() time.Duration { time.Sleep(500 * time.Millisecond); return 0 }
	idle := readMeanwhile(b, r, quiet)
	var busy []time.Duration
	var spent time.Duration
	revision := 0
	for b.Loop() {
		revision++
		m := bigSnapshot(b, revision, n)
		busy = append(busy, readMeanwhile(b, r, func() time.Duration {
			began := time.Now()
			e, err := cloud.DecodeLarge(m)
			if err != nil {
				b.Fatal(err)
			}
			if refusal, err := r.Take(b.Context(), e, &told{rig: r, id: e.ID}); refusal != nil || err != nil {
				b.Fatal(refusal, err)
			}
			spent += time.Since(began)
			return 0
		})...)
	}
	if got := r.Room(room).terms.Load().Revision; int(got) != revision || r.Room(room).bookings.Len() != n {
		b.Fatalf("revision %d of %d, %d bookings", got, revision, r.Room(room).bookings.Len())
	}
	b.ReportMetric(spent.Seconds()/float64(revision), "s/snapshot")
	for name, all := range map[string][]time.Duration{"idle": idle, "busy": busy} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Nanoseconds())/1e3, name+"-p50-us")
		b.ReportMetric(float64(all[len(all)*99/100].Nanoseconds())/1e3, name+"-p99-us")
		b.ReportMetric(float64(all[len(all)-1].Nanoseconds())/1e3, name+"-max-us")
	}
}

// readMeanwhile reads the state of the room every 200 us while f runs, and
// returns how long each read took.
func readMeanwhile(b *testing.B, r *rig, f func() time.Duration) (took []time.Duration) {
	b.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	for {
		select {
		case <-done:
			return took
		case <-time.After(200 * time.Microsecond):
		}
		began := time.Now()
		if _, err := r.State(room); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
}

// BenchmarkSpaceState is the state of one space with so many bookings. The
// goal is 50 us with 10 000.
func BenchmarkSpaceState(b *testing.B) {
	for _, n := range []int{0, 100, 10_000} {
		for _, shape := range []string{"apart", "back-to-back"} {
			b.Run(fmt.Sprintf("bookings=%d/%s", n, shape), func(b *testing.B) {
				r := planRig(b)
				all := make([]booking.Booking, n)
				begin := time.Now().UTC().Truncate(time.Hour)
				for i := range all {
					from := begin.Add(time.Duration(i) * 15 * time.Minute)
					to := from.Add(15 * time.Minute)
					if shape == "apart" {
						to = from.Add(5 * time.Minute)
					}
					all[i] = booking.Booking{ID: fmt.Sprint("m", i), SpaceID: room, State: booking.Booked, Start: from, End: to}
				}
				r.Room(room).bookings.Put(all...)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := r.State(room); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(50e3/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "of-goal")
			})
		}
	}
}
