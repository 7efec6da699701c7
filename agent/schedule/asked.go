package schedule

import (
	"context"
	"errors"
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

// asksEvery is how often the cloud is asked in all while too much is refused: for whatever room, each costs a transaction.
const asksEvery = 30 * time.Second

// asked is for what the cloud was asked: all that follows the revision that the space has.
type asked struct {
	have uint64
	at   time.Time // with a monotonic reading
}

// ask asks the cloud for the snapshot of a room.
type ask struct {
	book           *Book
	room           *Room
	have, revision uint64
}

// due says whether the cloud is to be asked now. It is asked once for each revision that the room has, and once more each
// minute: who sends gaps without end pushes nothing out of the log.
func (a *ask) due() bool {
	last := a.room.asked.Load()
	return last == nil || last.have != a.have || time.Since(last.at) >= askEvery
}

func (a *ask) write(tx *store.Tx) error {
	if err := a.book.tellSnapshotWanted(tx, a.room, a.have, a.revision); err != nil {
		return err
	}
	a.room.asked.Store(&asked{a.have, time.Now()})
	return nil
}

// refuse answers a schedule that is not applied, and asks for what is missing, if anything is: also where so much was
// refused that the answer is not stored, see asksEvery.
func (bk *Book) refuse(ctx context.Context, why *problem.Error, missing *ask, a Answerer) error {
	if missing == nil || !missing.due() {
		return a.Refuse(ctx, why)
	}
	if err := a.Refuse(ctx, why, missing.write); err != nil || !missing.due() || !bk.asks.Allow() {
		return err
	}
	if err := bk.o.Events.Update(ctx, missing.write); !errors.Is(err, store.ErrFull) {
		return err
	}
	return nil
}
