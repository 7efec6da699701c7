package schedule

import (
	"slices"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

// Who says a revision unsigned could take the highest, and no later one would be left to
// the cloud. So the first is in the lower half of all, and one that follows is at most
// maxJump ahead, or a sixteenth of the last where that is more. That is far enough for a
// cloud that counted from 1 and goes over to milliseconds since 1970, and years for one
// whose revisions are the time, in milliseconds or nanoseconds. All messages of revisionTime,
// as the gateway has lived through it, come no further together, so that no number of them reaches the
// highest: the cloud goes on from the one that the space has.
const (
	maxFirst     = booking.MaxRevision / 2
	maxJump      = 1 << 42
	revisionTime = 30 * 24 * time.Hour
	// maxStep is how far ahead a message may be at any time.
	maxStep = 1 << 20
	// maxTwice is how far behind a delta may be that comes twice. One from further behind was never applied.
	maxTwice = 1000
)

// base is the revision from which the next may jump: that of the space when revisionTime began.
func (p storedPlan) base(now clock.Lived) uint64 {
	if p.Base == 0 || now.Since(p.BaseAt) >= revisionTime {
		return p.Revision
	}
	return p.Base
}

// reach notes the next revision.
func (p *storedPlan) reach(revision uint64, now clock.Lived) {
	if base := p.base(now); base != p.Base {
		p.Base, p.BaseAt = base, now
	}
	p.Revision = revision
}

// furthest is the highest revision that may follow now.
func (p storedPlan) furthest(now clock.Lived) uint64 {
	return max(furthest(p.base(now)), p.Revision+maxStep)
}

// furthest is the highest that may follow such a base; 0: the space has none yet.
func furthest(base uint64) uint64 {
	if base == 0 {
		return maxFirst
	}
	return base + max(maxJump, base/16)
}

// gap is why a message is not applied that a lost one comes before, or that is too far ahead.
func gap(kept storedPlan, revision uint64, now clock.Lived) *problem.Error {
	have, most := kept.Revision, kept.furthest(now)
	switch {
	case revision < have:
		return problem.New(problem.Conflict, "revision", "is %d and the space has %d already: send a snapshot of a later one", revision, have)
	case revision > most:
		return problem.New(problem.Conflict, "revision", "is %d and the space has %d: send a snapshot of %d at most", revision, have, most)
	}
	return problem.New(problem.Conflict, "revision", "%d leaves a gap after %d: send a snapshot", revision, have)
}

// Mend asks the cloud for all bookings of the building, if a repair of the
// database may have lost some.
func (bk *Book) Mend(tx *store.Tx, repair store.Repair) error {
	if !slices.ContainsFunc(Buckets(), repair.Doubtful) {
		return nil
	}
	for _, r := range bk.rooms.Load().order {
		have := r.terms.Load().Revision
		if err := bk.tellSnapshotWanted(tx, r, have, have); err != nil {
			return err
		}
	}
	return nil
}

// tellSnapshotWanted asks the cloud for all bookings of a space.
func (bk *Book) tellSnapshotWanted(tx *store.Tx, r *Room, have, revision uint64) error {
	return bk.o.Events.Tell(tx, eventlog.Record{Type: eventSnapshotWanted, Time: bk.o.Clock.Now(), Space: r.ID, Device: eventlog.SpaceDevice,
		Details: map[string]any{"have": have, "revision": revision}})
}
