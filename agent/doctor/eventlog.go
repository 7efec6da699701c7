package doctor

import (
	"context"
	"fmt"

	"roomgate/agent/eventlog"
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
		why := "does not match the one before it: somebody changed it, or removed one before it"
		if c.Missing {
			why = "has no checksum: an earlier version wrote it, or somebody else"
		}
		return one(fail(name, fmt.Sprintf("event %d %s", c.Bad, why),
			"do not believe the events from there on; if you have not gone back to an earlier version or repaired the database, find out who could write to the data folder, and compare with the log_head that the heartbeats told the cloud"))
	case c.Branch != 0:
		return one(warn(name, branched(c), "if an earlier version was started after a power cut, nothing: no event is missing. Else find out who could write to the data folder"))
	case !c.Whole:
		return one(warn(name, fmt.Sprintf("only events up to %d could be verified in the time allowed", c.Last), "ask again when the gateway has less to do"))
	case c.First == 0:
		return nil // nothing was written by this version yet
	}
	return one(good(name, "%d events, from %d on each matches the one before it", x.Building.Log.Rows, x.Building.Log.First))
}

// branched says where an earlier version has gone on with the log.
func branched(c *eventlog.Chain) string {
	if c.From == 0 {
		return fmt.Sprintf("event %d does not follow from the one before it: an earlier version went on from an event that the log no longer has", c.Branch)
	}
	return fmt.Sprintf("event %d follows from event %d: an earlier version went on from there, without the events between", c.Branch, c.From)
}
