package doctor

import (
	"testing"
	"time"

	"roomgate/agent/health"
)

// TestRepair: who reads the finding knows in which tables to look, and that what
// cannot be counted may be missing all the same.
func TestRepair(t *testing.T) {
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for want, r := range map[string]health.Repair{
		"0 rows unreadable; others may be missing from bookings, log":                                     {At: at, Unknown: 2, Tables: []string{"bookings", "log"}},
		"2 rows of an earlier state, 0 rows unreadable; not whole: api-keys":                              {At: at, Older: 2, Tables: []string{"api-keys"}},
		"nothing of it is repaired yet: in memory are 3 rows as they were":                                {At: at, Rows: 3, Pending: true},
		"0 rows unreadable; the last changes before it may be missing anywhere":                           {At: at, Rows: 3, Headless: true},
		"on 2026-11-23 09:00, and an empty one took its place: bookings, keys, codes and events are lost": {At: at, Headless: true},
		"nothing of the damaged database can be read: bookings, keys, codes and events are not there":     {At: at, Headless: true, Pending: true},
	} {
		x := &examination{Options: Options{Building: &Building{Report: health.Report{StoreRepair: &r}}}}
		database(t.Context(), x)[0].is(t, want, Fail, want)
	}
	x := &examination{Options: Options{Building: &Building{}}}
	if found := database(t.Context(), x); found != nil {
		t.Errorf("nothing was repaired: %v", found)
	}
}
