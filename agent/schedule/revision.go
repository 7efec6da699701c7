package schedule

import (
	"context"
	"slices"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

// Who says a revision unsigned could take the highest, and no later one would be left to
// the cloud. So the first is in the lower half of all, and one that follows is at most
// maxJump ahead, or a sixteenth of the last where that is more. That is far enough for a
// cloud that counted from 1 and goes over to milliseconds since 1970, and years for one
// whose revisions are the time, in milliseconds or nanoseconds.
const (
	maxFirst = booking.MaxRevision / 2
	maxJump  = 1 << 42
)

// furthest is the highest revision that may follow another; 0: the space has none yet.
func furthest(have uint64) uint64 {
	if have == 0 {
		return maxFirst
	}
	return have + max(maxJump, have/16)
}

// wantSnapshot asks for what a lost message has said.
func (bk *Book) wantSnapshot(ctx context.Context, r *Room, revision uint64) (refusal *problem.Error, err error) {
	have := r.terms.Load().Revision
	err = bk.o.Events.Update(ctx, func(tx *store.Tx) error { return bk.tellSnapshotWanted(tx, r, have, revision) })
	if err != nil {
		return nil, err
	}
	if most := furthest(have); revision > most {
		return problem.New(problem.Conflict, "revision", "is %d and the space has %d: send a snapshot of %d at most", revision, have, most), nil
	}
	return problem.New(problem.Conflict, "revision", "%d leaves a gap after %d: send a snapshot", revision, have), nil
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
