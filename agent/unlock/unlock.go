// Package unlock keeps the codes that open the doors of meeting spaces, and
// answers the keypads at their locks. Codes are stored hashed; how often somebody
// may guess at a door is limited, also over a restart.
package unlock

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/schedule"
	"roomgate/store"
)

// Options are what the unlock codes stand on, and what they ask the building.
type Options struct {
	DB       *store.DB
	Events   *eventlog.Log
	Clock    *clock.Clock
	Keys     *auth.Keys // by which codes are hashed
	Commands *device.Commands
	Log      *slog.Logger

	// UnsignedAllowed says whether a word of the cloud that is not signed may open a door.
	UnsignedAllowed func() bool
	// Owner is the organization of a meeting space, empty: nobody's.
	Owner func(spaceID string) (organizationID string, err error)
	// Moment is now, by which wrong codes are counted.
	Moment func() auth.Moment
	// Door returns the door of a meeting space. It refuses a space that there is
	// not, and one without a lock.
	Door func(spaceID string) (Door, error)
	// Doors are those of all meeting spaces, and a channel that is closed when they
	// are others.
	Doors func() (all []Door, changed <-chan struct{})
}

// Door is the lock of a meeting space, and what is booked there.
type Door struct {
	Space string // the name of the meeting space
	Lock  *device.Device
	Room  *schedule.Room
}

func (d Door) spaceID() string { return d.Lock.SpaceID }

var (
	// codeRows holds the codes by space and id, hashed.
	codeRows = store.NewTable[storedCode]("unlock-codes")
	// keypadRows holds the wrong codes that were spent at a lock, by its id.
	keypadRows = store.NewTable[auth.Budget]("keypads")
)

// Buckets names the tables in the store.
func Buckets() []string { return []string{CodeBucket(), keypadRows.Bucket()} }

// CodeBucket names the table of the codes.
func CodeBucket() string { return codeRows.Bucket() }

// Words are the names that people have given to codes.
func Words(tx *store.Tx) (words []string) {
	for _, c := range codeRows.All(tx) {
		words = append(words, c.Name)
	}
	return words
}

// Codes are those of all doors and the keypads that take them. It may be used
// by many.
type Codes struct {
	o Options

	turn    sync.Mutex                        // held by who changes codes
	bySpace atomic.Pointer[map[string]*codes] // readers take no lock; it is replaced as a whole

	mu      sync.Mutex
	keypads map[string]*keypad // by the id of the lock; they outlive a change of its configuration
}

// Open reads the codes. Those of a space that is gone stay, and open nothing. One
// that cannot be read costs nothing else.
func Open(_ context.Context, o Options) (*Codes, error) {
	u := &Codes{o: o, keypads: map[string]*keypad{}}
	return u, o.DB.View(func(tx *store.Tx) error {
		stored := map[string][]*storedCode{}
		for _, c := range codeRows.All(tx) {
			if len(c.Hash) == sha256.Size {
				stored[c.SpaceID] = append(stored[c.SpaceID], &c)
			}
		}
		if err := tx.Err(); err != nil {
			o.Log.Error("an unlock code cannot be read and opens nothing: set it again", "error", err)
		}
		bySpace := map[string]*codes{}
		for spaceID, all := range stored {
			bySpace[spaceID] = newCodes(all)
		}
		u.bySpace.Store(&bySpace)
		return nil
	})
}

// Run answers the keypads of all doors until ctx ends.
func (cs *Codes) Run(ctx context.Context) error {
	return loop.ForEach(ctx, cs.o.Doors, cs.answer)
}

// of is the codes of a space.
func (cs *Codes) of(spaceID string) *codes {
	if c := (*cs.bySpace.Load())[spaceID]; c != nil {
		return c
	}
	return &codes{}
}

// show makes these the codes of a space. The caller has the turn.
func (cs *Codes) show(spaceID string, c *codes) {
	next := maps.Clone(*cs.bySpace.Load())
	next[spaceID] = c
	cs.bySpace.Store(&next)
}
