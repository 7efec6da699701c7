package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/drivers"
	"roomgate/store"
)

// TestBytesToTheCard bounds what each kind of change writes, with a log of the
// usual size that is full. A transaction of bbolt is a header and the page of all tables,
// 4 KiB each: 8.2 kB. The very youngest rows of the log are in that one, and so is a table that is
// no page yet; more rows take a page of their own, and now and then such move to the others.
func TestBytesToTheCard(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a log of 100,000 rows")
	}
	bubble(t, func(t *testing.T) {
		const rows = 100_000
		r := startRig(t, rigOptions{yaml: strings.ReplaceAll(building, "events: 500", fmt.Sprint("events: ", rows))})
		r.wait(5 * time.Second)
		for range rows / 5000 {
			fill(t, r, 5000)
		}
		r.wait(time.Minute)
		action := func(i int) string { return []string{drivers.ActOn, drivers.ActOff}[i%2] }
		for _, c := range []struct {
			what    string
			commits int64
			most    int64 // bytes
			do      func(i int) error
		}{
			{"the least that a transaction writes", 1, 8_192, func(i int) error {
				return r.db.Update(t.Context(), func(tx *store.Tx) error { return store.NewTable[int]("clock").Put(tx, "least", i) })
			}},
			{"a receipt of the cloud, without its id", 1, 11_400, func(i int) error {
				id := fmt.Sprintf("re%08x", uint32(i)*2654435761)
				return r.Events.Update(t.Context(), func(tx *store.Tx) error {
					return r.Commands.PushReceipt(tx, device.Command{ID: id, Space: room, DeviceType: drivers.TypeLight, Via: device.ViaMQTT},
						device.RefusedReceipt(id, problem.New(problem.Invalid, "action", "is not known: want one of on, off, intensity")))
				})
			}},
			{"nothing new", 0, 0, func(int) error { return nil }},
			{"a change of a device", 1, 12_000, func(i int) error { r.bench["light-1"].show("", action(i)); return nil }},
			{"a command", 2, 30_800, func(i int) error {
				_, err := r.Commands.Do(t.Context(), device.Command{Space: room, DeviceType: drivers.TypeLight, Action: action(i), Via: device.ViaHTTP})
				return err
			}},
			{"a command of the cloud", 2, 34_600, func(i int) error {
				id := fmt.Sprintf("%08x", uint32(i)*2654435761) // in no order
				return r.Commands.Take(t.Context(), device.Command{ID: id, Space: room, DeviceType: drivers.TypeLight, Action: action(i), Via: device.ViaMQTT})
			}},
			{"a command of the cloud that is refused", 1, 17_000, func(i int) error {
				id := fmt.Sprintf("no%08x", uint32(i)*2654435761)
				return r.Commands.Take(t.Context(), device.Command{ID: id, Space: room, DeviceType: drivers.TypeLight, Action: "never", Via: device.ViaMQTT})
			}},
			{"a booking", 1, 24_200, func(i int) error {
				at := time.Now().Add(time.Duration(24+i) * time.Hour).Truncate(time.Hour)
				_, _, err := r.Bookings.Create(t.Context(), booking.Booking{SpaceID: room, Title: "mine", Start: at, End: at.Add(time.Hour)}, schedule.Caller{})
				return err
			}},
		} {
			const n = 100
			before := r.db.Stats()
			for i := range n {
				if err := c.do(i); err != nil {
					t.Fatal(err)
				}
				r.wait(3 * time.Second)
			}
			now := r.db.Stats()
			each := (now.BytesWritten - before.BytesWritten) / n
			t.Logf("%-40s %6d bytes", c.what, each)
			if commits := now.Commits - before.Commits; each > c.most || commits != c.commits*n {
				t.Errorf("%s: %d bytes and %.2f transactions each, want at most %d and %d", c.what, each, float64(commits)/n, c.most, c.commits)
			}
		}
	})
}
