package doctor

import (
	"testing"

	"roomgate/agent/eventlog"
)

// A log that was changed is named with its first bad event; one of an earlier
// version only is nothing to tell.
func TestWholeLog(t *testing.T) {
	x := &examination{}
	if found := wholeLog(t.Context(), x); found != nil {
		t.Errorf("without a gateway: %+v", found)
	}
	x.Building = &Building{}
	if found := wholeLog(t.Context(), x); found != nil {
		t.Errorf("an earlier version: %+v", found)
	}
	x.Building.Log = &eventlog.Chain{Rows: 3, Last: 3, Whole: true}
	if found := wholeLog(t.Context(), x); found != nil {
		t.Errorf("rows of an earlier version: %+v", found)
	}
	for _, c := range []struct {
		found eventlog.Chain
		state State
		seen  string
	}{
		{eventlog.Chain{Rows: 9, First: 4, Last: 12, Whole: true}, OK, "9 events, from 4 on"},
		{eventlog.Chain{Rows: 9, First: 4, Last: 12}, Warn, "only events up to 12"},
		{eventlog.Chain{Rows: 9, First: 4, Last: 900, Branch: 900, From: 6, Whole: true}, Warn, "event 900 follows from event 6"},
		{eventlog.Chain{Rows: 9, First: 4, Last: 900, Branch: 900, Whole: true}, Warn, "the log no longer has"},
		{eventlog.Chain{Rows: 9, First: 4, Last: 950, Branch: 900, From: 6, Bad: 950, Whole: true}, Fail, "event 950 does not match"},
		{eventlog.Chain{Rows: 9, First: 4, Last: 12, Bad: 13, Whole: true}, Fail, "event 13 does not match"},
		{eventlog.Chain{Rows: 9, First: 4, Last: 12, Bad: 13, Missing: true, Whole: true}, Fail, "event 13 has no checksum"},
	} {
		x.Building.Log = &c.found
		wholeLog(t.Context(), x)[0].is(t, c.seen, c.state, c.seen)
	}
}
