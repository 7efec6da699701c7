package doctor

import (
	"context"
	"fmt"
)

// wholeLog says whether the log of what has happened, and who did it, is as it
// was written.
func wholeLog(_ context.Context, x *examination) []Finding {
	const name = "event log"
	if x.Building == nil || x.Building.Log == nil {
		return nil
	}
	switch c := x.Building.Log; {
	case c.Bad != 0:
		why := "does not follow from the one before it: it was changed, or one before it was taken away"
		if c.Missing {
			why = "has no sum: an earlier version has written it, or somebody else"
		}
		return one(fail(name, fmt.Sprintf("event %d %s", c.Bad, why),
			"do not believe the events from there on; if you have not gone back to an earlier version or repaired the database, find out who could write to the data folder, and compare with the log_head that the heartbeats told the cloud"))
	case !c.Whole:
		return one(warn(name, fmt.Sprintf("only events up to %d were verified in time", c.Last), "ask again when the gateway has less to do"))
	case c.First == 0:
		return nil // nothing was written by this version yet
	}
	return one(good(name, "%d events, from %d on each follows from the one before it", x.Building.Log.Rows, x.Building.Log.First))
}
