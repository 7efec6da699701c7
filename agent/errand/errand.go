// Package errand is what takes long in a gateway and goes on while nobody waits for it: the walk
// through a room that somebody accepts, and the files that somebody has made. Each ends with the
// access of who has begun it. Pages show how it stands.
package errand

import (
	"context"
	"os"
	"sync"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/backup"
	"roomgate/agent/health"
	"roomgate/agent/problem"
	"roomgate/agent/update"
)

// Means are what a gateway does errands with. One that lacks a function cannot do that.
type Means struct {
	// Folder is where a file lies that is made, without a name: it is gone with the process.
	Folder string
	// Backup seals a backup of the building into f, and reads it back.
	Backup func(ctx context.Context, f *os.File, passphrase string, progress func(part string) backup.Progress) error
	// Support writes a support bundle into f.
	Support func(ctx context.Context, f *os.File) error
	Updates *update.Runner // nil: it takes none
}

// Options are what errands stand on.
type Options struct {
	Means
	Version string // of the program
	Now     func() time.Time
	Health  func() *health.Monitor
	// Valid says whether somebody still may what he might when he came, and Changed when to ask again.
	Valid   func(who access.Principal) bool
	Changed func() <-chan struct{}
}

// Errands are those of a building.
type Errands struct {
	o      Options
	walks  *walks
	makers map[string]*maker // by what they make
}

// New returns the errands of a building. None is under way.
func New(o Options) *Errands { return &Errands{o, newWalks(), newMakers()} }

// Run does what somebody has begun, until ctx ends: it walks rooms, and makes files.
func (e *Errands) Run(ctx context.Context) error {
	var all sync.WaitGroup
	defer all.Wait()
	for _, m := range e.makers {
		all.Go(func() { m.run(ctx, e) })
	}
	for {
		select {
		case b := <-e.walks.wanted:
			e.walk(ctx, b)
		case <-ctx.Done():
			return nil
		}
	}
}

// Updates are those of the gateway.
func (e *Errands) Updates() (*update.Runner, error) {
	if e.o.Updates == nil {
		return nil, problem.New(problem.NotNow, "", "this gateway takes no updates: a demo is the program that somebody has started")
	}
	return e.o.Updates, nil
}
