package schedule

import (
	"context"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

// Answerer answers one message of the cloud.
type Answerer interface {
	// Allowed refuses a message of which there are too many; nil: it may be taken.
	Allowed() *problem.Error
	// Wrote hears how many bookings it has changed.
	Wrote(bookings int)
	// Done is stored with what was applied.
	Done(spaceID string) eventlog.Stage
	// Again answers what was applied before.
	Again(ctx context.Context, spaceID string) error
	// Refuse answers what is not applied; also is stored with the answer, where that is stored.
	Refuse(ctx context.Context, why *problem.Error, also ...func(*store.Tx) error) error
}

// askEvery is how often the cloud is asked once more for the snapshot that it was asked for, in case it has lost that.
const askEvery = time.Minute

// asked is for what the cloud was asked: all that follows the revision that the space has.
type asked struct {
	have uint64
	at   time.Time // with a monotonic reading
}

// askSnapshot is what is stored with a refusal to ask the cloud for a snapshot. It is asked once for each revision that the
// space has, and once more each minute: who sends gaps without end pushes nothing out of the log.
func (bk *Book) askSnapshot(r *Room, have, revision uint64) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		if last := r.asked.Load(); last != nil && last.have == have && time.Since(last.at) < askEvery {
			return nil
		}
		if err := bk.tellSnapshotWanted(tx, r, have, revision); err != nil {
			return err
		}
		r.asked.Store(&asked{have, time.Now()})
		return nil
	}
}
