package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// said is a schedule message, as a backend writes it by hand.
func said[N int | int64](id, kind string, revision N, bookings string, removed ...string) cloud.Envelope {
	gone, _ := json.Marshal(removed)
	data := fmt.Sprintf(`{"meeting_space_id":%q,"kind":%q,"revision":%d,"bookings":[%s],"removed":%s}`, room, kind, revision, bookings, gone)
	return cloud.Envelope{ID: id, Source: "backend", Type: "roomgate.schedule", Time: time.Now(), Data: json.RawMessage(data)}
}

// slot is a booking as a cloud says it that says no more than it must.
func slot(id string, from, to time.Time, more ...string) string {
	return fmt.Sprintf(`{"id":%q,"start_time":%q,"end_time":%q%s}`, id, from.Format(time.RFC3339), to.Format(time.RFC3339),
		strings.Join(append([]string{""}, more...), ","))
}

// take gives the book a schedule, and returns what the cloud is answered: "done" or
// "rejected" with the reason. Done is stored with what was applied.
func (r *rig) take(e cloud.Envelope) string {
	r.t.Helper()
	a := &told{rig: r, id: e.ID}
	if _, err := r.Take(r.t.Context(), e, a); err != nil {
		r.t.Fatalf("%s was not taken: %v", e.ID, err)
	}
	return a.answer
}

// answer is the receipt of a message.
func (r *rig) answer(id, spaceID string, shown func()) eventlog.Stage {
	return eventlog.Stage{Write: func(tx *store.Tx) error {
		return r.events.Push(tx, r.events.Row(eventlog.LevelReceipt, time.Now(), spaceID, "", "", json.RawMessage(strconv.Quote(id))))
	}, Show: shown}
}

// logged are the rows of the log of one level.
func (r *rig) logged(level string) (out []eventlog.Row) {
	r.t.Helper()
	page, err := r.events.Page(0, 100_000)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, item := range page {
		if item.Value.Level() == level {
			out = append(out, item.Value)
		}
	}
	return out
}

// toldUp are the bookings that were told to the cloud, as "id state".
func (r *rig) toldUp() (out []string) {
	r.t.Helper()
	for _, line := range r.logged(eventlog.LevelBooking) {
		var b booking.Booking
		if err := json.Unmarshal(line.Data, &b); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s", b.ID, b.State))
	}
	return out
}

// states lists a room's bookings as "id state".
func (r *rig) states(spaceID string) (out []string) {
	r.t.Helper()
	all, err := r.List(spaceID, time.Time{}, time.Time{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, b := range all {
		out = append(out, fmt.Sprintf("%s %s", b.ID, b.State))
	}
	slices.Sort(out)
	return out
}

func (r *rig) wantStates(what string, want ...string) {
	r.t.Helper()
	if got := r.states(room); !slices.Equal(got, want) {
		r.t.Errorf("%s: %q, want %q", what, got, want)
	}
	r.wantStored()
}

func TestScheduleMessages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		nine, ten, eleven := slot("nine", on(9, 0), on(10, 0)), slot("ten", on(10, 0), on(11, 0)), slot("eleven", on(11, 0), on(12, 0))
		for _, c := range []struct {
			what     string
			message  cloud.Envelope
			receipt  string // how it begins
			revision uint64
			want     []string
		}{
			{"a delta before any snapshot", said("1", kindDelta, 5, nine), "rejected revision 5 leaves a gap after 0: send a snapshot", 0, nil},
			{"a snapshot", said("2", kindSnapshot, 5, nine+","+ten), "done", 5, []string{"nine booked", "ten booked"}},
			{"once more", said("2", kindSnapshot, 5, nine+","+ten), "done", 5, []string{"nine booked", "ten booked"}},
			{"a delta", said("3", kindDelta, 6, eleven, "ten"), "done", 6, []string{"eleven booked", "nine booked", "ten cancelled"}},
			{"the delta again", said("3", kindDelta, 6, eleven, "ten"), "done", 6, []string{"eleven booked", "nine booked", "ten cancelled"}},
			{"a gap", said("4", kindDelta, 8, ten), "rejected revision 8 leaves a gap after 6", 6, []string{"eleven booked", "nine booked", "ten cancelled"}},
			{"a snapshot from before", said("5", kindSnapshot, 4, nine), "rejected revision is 4 and the space has 6 already", 6, []string{"eleven booked", "nine booked", "ten cancelled"}},
			{"one that leaves two out", said("6", kindSnapshot, 9, slot("noon", on(12, 0), on(13, 0))), "done", 9,
				[]string{"eleven cancelled", "nine cancelled", "noon booked", "ten cancelled"}},
			{"removing what is not there", said("7", kindDelta, 10, "", "stranger", "nine"), "done", 10,
				[]string{"eleven cancelled", "nine cancelled", "noon booked", "ten cancelled"}},
		} {
			if got := r.take(c.message); !strings.HasPrefix(got, c.receipt) {
				t.Errorf("%s: receipt %q, want %q", c.what, got, c.receipt)
			}
			r.wantStates(c.what, c.want...)
			if s, err := r.State(room); err != nil || s.ScheduleRevision != c.revision {
				t.Errorf("%s: revision %d, want %d", c.what, s.ScheduleRevision, c.revision)
			}
		}
		var wanted []string
		for _, e := range r.told() {
			if e == "snapshotWanted" {
				wanted = append(wanted, e)
			}
		}
		if len(wanted) != 2 || len(r.toldUp()) != 0 {
			t.Errorf("asked for %d snapshots, want two; told the cloud %q, want nothing", len(wanted), r.toldUp())
		}
		if b := r.booking("ten"); b.Reason != "removed by the cloud" || b.CloudRevision != 5 {
			t.Errorf("removed: %+v", b)
		}
	})
}

func TestScheduleThatIsWrongChangesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.book("mine", on(9, 0), on(10, 0))
		good := slot("good", on(11, 0), on(12, 0))
		with := func(more ...string) string { return good + "," + slot("bad", on(12, 0), on(13, 0), more...) }
		for field, data := range map[string]string{
			"bookings[1].id":               good + "," + slot("a b", on(12, 0), on(13, 0)),
			"bookings[1].end_time":         good + "," + slot("bad", on(13, 0), on(12, 0)),
			"bookings[1].start_time":       good + `,{"id":"bad","end_time":"2000-01-01T12:00:00Z"}`,
			"bookings[1].state":            with(`"state":"maybe"`),
			"bookings[1].source":           with(`"source":"moon"`),
			"bookings[1].organizer.email":  with(`"organizer":{"email":"nobody"}`),
			"bookings[1].meeting_space_id": with(`"meeting_space_id":"` + otherRoom + `"`),
			"bookings[0].start_time":       `{"id":"bad","start_time":"tomorrow","end_time":"2000-01-01T12:00:00Z"}`,
			"bookings[1].revision":         with(`"revision":-1`),
			"bookings[0].revision":         slot("high", on(12, 0), on(13, 0), `"revision":18446744073709551615`),
			"bookings[1].created_at":       with(`"created_at":"0000-01-01T00:00:00+05:00"`),
			"bookings[1].checked_in_at":    with(`"checked_in_at":"9999-12-31T23:59:59-05:00"`),
			"bookings[1].title":            with(`"title":7`),
		} {
			if got := r.take(said(field, kindSnapshot, 5, data)); !strings.HasPrefix(got, "rejected "+field+" ") {
				t.Errorf("%s: %q", field, got)
			}
		}
		for want, data := range map[string]string{
			"rejected revision is missing":                    `{"meeting_space_id":"` + room + `","kind":"snapshot"}`,
			"rejected revision is out of range":               `{"meeting_space_id":"` + room + `","kind":"snapshot","revision":18446744073709551615}`,
			"rejected kind is \"\": want snapshot or delta":   `{"meeting_space_id":"` + room + `","revision":1}`,
			"rejected meeting_space_id is not a meeting spac": `{"meeting_space_id":"x","kind":"snapshot","revision":1}`,
			"rejected data is no schedule":                    `[1]`,
			"rejected bookings[0]. is not of its type":        `{"meeting_space_id":"` + room + `","kind":"snapshot","revision":1,"bookings":[7]}`,
		} {
			e := said(want[:12], kindSnapshot, 5, "")
			e.Data = json.RawMessage(data)
			if got := r.take(e); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %q, want %q", data, got, want)
			}
		}
		r.wantStates("after all", "mine booked")
		if s, _ := r.State(room); s.ScheduleRevision != 0 {
			t.Errorf("revision %d", s.ScheduleRevision)
		}
	})
}

// A cloud that says little, and says it again each night, causes no change.
func TestSameSnapshotAgainChangesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.book("mine", on(9, 0), on(10, 0))
		text := slot("nine", on(9, 0), on(10, 0), `"title":"t"`) + "," + slot("mine", on(11, 0), on(12, 0), `"title":"mine"`, `"revision":2`) +
			"," + slot("later", on(9, 0).AddDate(0, 0, 3), on(10, 0).AddDate(0, 0, 3))
		r.take(said("1", kindSnapshot, 1, text))
		r.wantStates("first", "later booked", "mine booked", "nine booked")
		before, events := r.booking("mine"), len(r.happenings())
		if before.Source != booking.Local || !before.CreatedAt.Equal(on(0, 0)) || before.Start.Hour() != 11 {
			t.Errorf("the cloud moved it: %+v", before)
		}
		for i := range 3 {
			r.wait(time.Hour)
			r.take(said(fmt.Sprint("again", i), kindSnapshot, 2+i, text))
		}
		if after := r.booking("mine"); after != before || len(r.happenings()) != events {
			t.Errorf("before\n%+v\nafter\n%+v\n%v", before, after, r.happenings())
		}
		r.take(said("edit", kindDelta, 5, slot("nine", on(9, 0), on(10, 0), `"title":"u"`)))
		if b := r.booking("nine"); b.Title != "u" {
			t.Errorf("an edit without a revision: %+v", b)
		}
	})
}

func TestScheduleThatIsTooMuchIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		past := make([]booking.Booking, maxBookings-1)
		for i := range past {
			past[i] = booking.Booking{ID: fmt.Sprint("past", i), State: booking.Ended, Start: on(0, 0), End: on(0, 15)}
		}
		r.Room(room).bookings.Put(past...)
		two := slot("a", on(9, 0), on(10, 0)) + "," + slot("b", on(10, 0), on(11, 0))
		if got := r.take(said("1", kindDelta, 1, two)); !strings.HasPrefix(got, "rejected the space would have more than") {
			t.Errorf("receipt %q", got)
		}
		if s, _ := r.State(room); s.ScheduleRevision != 0 || r.Room(room).bookings.Len() != maxBookings-1 {
			t.Errorf("applied in part: %+v", s)
		}
		if got := r.take(said("2", kindDelta, 1, slot("a", on(9, 0), on(10, 0)))); got != "done" {
			t.Errorf("what fits: %q", got)
		}
	})
}

func TestBookingMovesToAnotherRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{yaml: planned, dir: dir})
		there := func(id string, revision int, bookings string) cloud.Envelope {
			e := said(id, kindSnapshot, revision, bookings)
			e.Data = json.RawMessage(strings.Replace(string(e.Data), room, otherRoom, 1))
			return e
		}
		r.take(said("1", kindSnapshot, 1, slot("m", on(9, 0), on(10, 0))))
		if got := r.take(there("2", 1, slot("m", on(9, 0), on(10, 0)))); !strings.HasPrefix(got, "rejected bookings[0].id m is a booking of another meeting space") {
			t.Errorf("in two rooms at once: %q", got)
		}
		r.take(said("3", kindDelta, 2, "", "m"))
		if got := r.take(there("4", 1, slot("m", on(9, 0), on(10, 0)))); got != "done" {
			t.Errorf("moved: %q", got)
		}
		if got := r.take(said("5", kindSnapshot, 3, slot("m", on(9, 0), on(10, 0), `"state":"cancelled"`))); got != "done" {
			t.Errorf("its old record once more: %q", got)
		}
		r.wantStates("where it was")
		if got := r.states(otherRoom); !slices.Equal(got, []string{"m booked"}) {
			t.Errorf("where it is: %q", got)
		}
		r.stop()
		r = startRig(t, rigOptions{yaml: planned, dir: dir})
		if got := r.states(otherRoom); !slices.Equal(got, []string{"m booked"}) || len(r.states(room)) > 0 {
			t.Errorf("after a restart: %q", got)
		}
	})
}

// A meeting that has begun without anybody and is moved to later begins once
// more.
func TestMovedMeetingBeginsOnceMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.take(said("1", kindSnapshot, 1, slot("m", on(9, 0), on(10, 0))))
		r.until(on(9, 9))
		r.take(said("2", kindDelta, 2, slot("m", on(11, 0), on(12, 0), `"revision":2`)))
		r.until(on(13, 0))
		r.wantHappenings("09:00:00 m start", "09:09:00 m updated", "11:00:00 m start", "11:10:00 m released")
	})
}

func TestScheduleOnAFullDiskComesAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: strings.Replace(planned, "spaces:", "store: {max_size: 8MiB}\nspaces:", 1)})
		r.book("mine", on(9, 0), on(10, 0))
		r.fill()
		var all []string
		for i := range 300 {
			from := on(0, 0).AddDate(0, 0, 1+i)
			all = append(all, slot(fmt.Sprint("m", i), from, from.Add(time.Hour), `"title":"`+strings.Repeat("x", 300)+`"`))
		}
		e := said("1", kindSnapshot, 1, strings.Join(all, ",")+","+slot("board", on(9, 0), on(10, 0)))
		refusal, err := r.Take(t.Context(), e, &told{rig: r, id: "1"})
		if refusal != nil {
			t.Errorf("it is refused: %v", refusal)
		}
		wantCode(t, "on a full disk", err, problem.Full, "")
		r.wantStates("on a full disk", "mine booked")
		r.empty()
		if got := r.take(e); got != "done" || len(r.states(room)) != 302 || r.booking("mine").State != booking.Displaced {
			t.Errorf("after space came back: %q, %d bookings, mine is %s", got, len(r.states(room)), r.booking("mine").State)
		}
		r.wantStored()
	})
}

// What was told while the cloud was away, and fell out of the log, is told
// again when a snapshot shows that the cloud does not have it.
func TestSnapshotShowsWhatTheCloudHasNotHeard(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.book("lost", on(9, 0), on(10, 0))
		r.book("known", on(10, 0), on(11, 0))
		r.take(said("1", kindSnapshot, 1, slot("known", on(10, 0), on(11, 0), `"title":"known"`)))
		r.take(said("2", kindDelta, 2, slot("other", on(12, 0), on(13, 0))))
		if told := r.toldUp(); !slices.Equal(told, []string{"lost booked", "known booked", "lost booked"}) {
			t.Errorf("told %q, want the lost one once more", told)
		}
		r.wantHappenings() // nothing has
	})
}

// A commit that fails leaves the memory as the disk is.
func TestScheduleThatCannotBeStoredIsNotShown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.book("mine", on(9, 0), on(10, 0))
		s := r.Room(room)
		r.turn(func() {
			e := edit{Booking: r.booking("mine"), event: Updated}
			e.Title = "never"
			err := s.commit(context.Background(), []edit{e}, eventlog.Stage{Write: func(*store.Tx) error { return fmt.Errorf("no") }})
			if err == nil || r.booking("mine").Title == "never" {
				t.Errorf("%v, shown %+v", err, r.booking("mine"))
			}
		})
		r.wantStates("after it failed", "mine booked")
		if n := len(r.happenings()); n != 1 {
			t.Errorf("%d events of what was not stored", n)
		}
	})
}

// After a repair that may have lost bookings the cloud is asked for all of them,
// once for each room.
func TestMendAsksForAllBookings(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for table, want := range map[string]int{bookings.Bucket(): 2, plans.Bucket(): 2, "table:keys": 0} {
			r := openRig(t, rigOptions{})
			repair := store.Repair{Tables: []store.TableRepair{{Name: table, Lost: 1}}}
			if err := r.db.Update(t.Context(), func(tx *store.Tx) error { return r.Mend(tx, repair) }); err != nil {
				t.Error(err)
			}
			asked := slices.DeleteFunc(r.told(), func(e string) bool { return e != "snapshotWanted" })
			if len(asked) != want {
				t.Errorf("%s in doubt: asked for %d snapshots, want %d", table, len(asked), want)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
