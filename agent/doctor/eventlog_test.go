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
		{eventlog.Chain{Rows: 9, First: 4, Last: 12, Bad: 13, Whole: true}, Fail, "event 13 does not follow"},
		{eventlog.Chain{Rows: 9, First: 4, Last: 12, Bad: 13, Missing: true, Whole: true}, Fail, "event 13 has no sum"},
	} {
		x.Building.Log = &c.found
		wholeLog(t.Context(), x)[0].is(t, c.seen, c.state, c.seen)
	}
}
