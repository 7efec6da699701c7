package agent

import (
	"errors"
	"testing"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// clockRow is the table of the clock, with one row.
var clockRow = store.NewTable[clock.Memory]("clock")

const clockKey = "clock"

// What an earlier version has stored: no row of the clock, bookings that do not
// say when they were over, and a log that says when it was.
func TestClockOfAnEarlierVersion(t *testing.T) {
	for name, c := range map[string]struct {
		off       time.Duration
		untrusted bool
		want      clock.Trust
	}{
		"a weekend later":                  {60 * time.Hour, false, clock.Trusted},
		"ten years later":                  {tenYears, false, clock.Untrusted},
		"ten years later, by a log of any": {tenYears, true, clock.Trusted},
	} {
		bubble(t, func(t *testing.T) {
			dir := t.TempDir()
			r := startRig(t, rigOptions{yaml: planned, dir: dir})
			b := r.book("old", on(9, 0), on(10, 0))
			r.until(on(11, 0))
			r.stop()
			r = openRig(t, rigOptions{yaml: planned, dir: dir})
			err := r.db.Update(t.Context(), func(tx *store.Tx) error {
				if err := clockRow.Delete(tx, clockKey); err != nil {
					return err
				}
				row, err := bookingRows.Get(tx, b.ID)
				if err != nil {
					return err
				}
				delete(row, "over")
				last := r.Events.Row("event.test", time.Now(), "", "", "", []byte("{}"))
				last.Untrusted = c.untrusted
				if err := r.Events.Push(tx, last); err != nil {
					return err
				}
				return bookingRows.Put(tx, b.ID, row)
			})
			if err := errors.Join(err, r.Close()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(c.off)
			r = startRig(t, rigOptions{yaml: planned, dir: dir})
			r.wait(time.Minute)
			if got := r.clock.Trust(); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
			if b := r.booking("old"); b.Live() {
				t.Errorf("%s: %+v", name, b)
			}
		})
	}
}

// How long the gateway has run outlives a restart, and a power cut but for the
// last hour. It costs a transaction an hour.
func TestLivedTimeIsStored(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{yaml: planned, dir: dir})
		r.wait(10 * time.Minute)
		before := r.db.Stats().Commits
		r.wait(10 * time.Hour)
		if n := r.db.Stats().Commits - before; n > 11 {
			t.Errorf("%d transactions in ten hours in which nothing happened, want one an hour", n)
		}
		var kept clock.Memory
		err := r.db.View(func(tx *store.Tx) (err error) { kept, err = clockRow.Get(tx, clockKey); return err })
		if lived := kept.Lived.Since(0); err != nil || lived < 9*time.Hour || lived > 10*time.Hour+10*time.Minute {
			t.Errorf("after a power cut it has lived %v, %v, want about 10 h", lived, err)
		}
		r.stop()
		time.Sleep(48 * time.Hour)
		r = startRig(t, rigOptions{yaml: planned, dir: dir})
		if lived := r.clock.Lived().Since(0); lived != 10*time.Hour+10*time.Minute {
			t.Errorf("after a restart it has lived %v, want 10h10m", lived)
		}
	})
}

// A message of the cloud that tells the same time confirms a jump; a retained
// one, and one that tells another, does not.
func TestCloudConfirmsAJump(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.wait(time.Second)
		r.clock.Jump(tenYears)
		ack := func(at time.Time, retained bool) clock.Trust {
			payload, err := cloud.Envelope{ID: "a", Source: "cloud", Type: cloud.TypeOf("replay"), Time: at, Data: []byte(`{}`)}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Cloud.Receive(t.Context(), cloud.Message{Topic: r.topics().Down("replay"), Payload: payload, Retained: retained}); err != nil {
				t.Fatal(err)
			}
			return r.clock.Trust()
		}
		later := time.Now().Add(tenYears)
		if got := ack(time.Now(), false); got != clock.Untrusted {
			t.Errorf("by another time: %s", got)
		}
		if got := ack(later, true); got != clock.Untrusted {
			t.Errorf("by a retained message: %s", got)
		}
		if got := ack(later, false); got != clock.Trusted || r.Now().Year() != later.Year() {
			t.Errorf("by the same time: %s, %v", got, r.Now())
		}
	})
}

// Who confirms a clock is in the log, and no configuration is overruled.
func TestConfirmClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		r.wait(time.Second)
		r.clock.Jump(tenYears)
		r.wait(time.Minute)
		v, err := r.ConfirmClock(t.Context(), "test")
		if err != nil || v.Trust != clock.Trusted || v.Jump != 0 || r.Now().Year() != 2009 {
			t.Errorf("%+v, %v, %v", v, err, r.Now())
		}
		if got := r.gatewayEvents(); got != "clockJumped clockBelieved" {
			t.Errorf("told %q", got)
		}
	})
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: "gateway: {id: test}\nclock: {trust: never}\nspaces: [{id: " + room + ", name: Aurora}]\n"})
		_, err := r.ConfirmClock(t.Context(), "test")
		wantCode(t, "never", err, problem.NotNow, "")
	})
}
