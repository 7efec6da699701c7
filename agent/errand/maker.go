package errand

import (
	"cmp"
	"context"
	"io"
	"os"
	"sync"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/atomicfile"
	"roomgate/agent/backup"
	"roomgate/agent/problem"
)

// The files that are made here, as paths name them.
const (
	FileBackup  = "backup"
	FileSupport = "support-bundle"
)

// keepFor is how long what was made waits to be taken away.
const keepFor = 30 * time.Minute

// Making is how a file comes to be.
type Making struct {
	File    string // one of those
	By      string // who has asked for it
	Running bool
	Part    string        // what is done of it just now
	Percent int           // of that part
	Total   int64         // bytes of that part; 0: not known
	For     time.Duration // it runs, in whole seconds
	Ready   bool
	Size    int64     // bytes
	Until   time.Time // it waits
	Wrong   string    // why it was not made
}

// order is a file that somebody wants made.
type order struct {
	who access.Principal
	do  func(ctx context.Context, f *os.File, progress func(part string) backup.Progress) error
}

// maker makes one kind of file, one at a time, and keeps the last one for a while.
type maker struct {
	wanted chan order

	mu    sync.Mutex
	now   Making
	began time.Time
	stop  context.CancelCauseFunc // of the work under way; nil: there is none
	made  *os.File                // nil: none is kept
}

func newMakers() map[string]*maker {
	all := map[string]*maker{}
	for _, file := range []string{FileBackup, FileSupport} {
		all[file] = &maker{wanted: make(chan order, 1), now: Making{File: file}}
	}
	return all
}

// run makes what is wanted until ctx ends.
func (m *maker) run(ctx context.Context, e *Errands) {
	defer m.forget()
	for {
		late := m.late()
		select {
		case o := <-m.wanted:
			m.make(ctx, e, o)
		case <-late:
			m.forget()
		case <-ctx.Done():
			return
		}
	}
}

// late tells when what is kept has waited long enough; nil: nothing is kept.
func (m *maker) late() <-chan time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.made == nil {
		return nil
	}
	return time.After(time.Until(m.now.Until))
}

func (m *maker) start(o order) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now.Running {
		return problem.New(problem.NotNow, "", "%s is making one: wait until it is there, or stop it", m.now.By)
	}
	m.drop()
	m.now, m.began = Making{File: m.now.File, By: o.who.Name, Running: true, Part: "Starting"}, time.Now()
	m.wanted <- o // it has room for one
	return nil
}

// make does the work, as long as who has asked for it may have it done.
func (m *maker) make(ctx context.Context, e *Errands, o order) {
	ctx, cancel := e.during(ctx, o.who)
	defer cancel(nil)
	m.mu.Lock()
	m.stop = cancel
	m.mu.Unlock()
	f, err := atomicfile.Unnamed(e.o.Folder)
	if err == nil {
		if err = o.do(ctx, f, m.progress); err != nil {
			err = cmp.Or(context.Cause(ctx), err)
		}
	}
	m.done(f, err)
}

// done keeps what has come of the work: a file, or why there is none.
func (m *maker) done(f *os.File, err error) {
	var size int64
	if err == nil {
		size, err = f.Seek(0, io.SeekEnd)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stop, m.now = nil, Making{File: m.now.File, By: m.now.By}
	if err != nil {
		m.now.Wrong = err.Error()
		if f != nil {
			_ = f.Close() // nothing of it is wanted
		}
		return
	}
	m.made, m.now.Ready, m.now.Size, m.now.Until = f, true, size, time.Now().Add(keepFor)
}

// progress returns what hears how far a part of the work is.
func (m *maker) progress(part string) backup.Progress {
	return func(done, total int64) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.now.Part, m.now.Total, m.now.Percent = part, total, int(done*100/max(total, 1))
	}
}

// end stops the work under way, or discards what was made.
func (m *maker) end() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.stop != nil:
		m.stop(errStopped)
	case m.now.Running:
		return problem.New(problem.NotNow, "", "the work is just beginning: try again")
	case m.made == nil:
		return problem.New(problem.NotNow, "", "nothing is being made, and nothing is kept")
	}
	m.drop()
	return nil
}

// forget discards what was made.
func (m *maker) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop()
}

// drop is forget, for who holds the lock. Without a name a file is gone once it is closed.
func (m *maker) drop() {
	if m.made == nil {
		return
	}
	_ = m.made.Close() // nobody wants what is in it
	m.made, m.now = nil, Making{File: m.now.File}
}

func (m *maker) look() Making {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.now
	if v.Running {
		v.For = time.Since(m.began).Truncate(time.Second)
	}
	return v
}

// Making is how a file of a kind comes to be, the last one if none is under way.
func (e *Errands) Making(file string) Making { return e.makers[file].look() }

// makerOf is who makes a kind of file.
func (e *Errands) makerOf(file string) (*maker, error) {
	m := e.makers[file]
	if m == nil {
		return nil, problem.New(problem.NotFound, "file", "is not known: want %s or %s", FileBackup, FileSupport)
	}
	return m, nil
}

// Make has a file made. A backup is sealed with the passphrase.
func (e *Errands) Make(file string, who access.Principal, passphrase, again string) error {
	m, err := e.makerOf(file)
	if err != nil {
		return err
	}
	o := order{who: who, do: func(ctx context.Context, f *os.File, _ func(string) backup.Progress) error {
		return e.o.Support(ctx, f)
	}}
	if file == FileBackup {
		if err := e.mayBackUp(passphrase, again); err != nil {
			return err
		}
		o.do = func(ctx context.Context, f *os.File, progress func(string) backup.Progress) error {
			return e.o.Backup(ctx, f, passphrase, progress)
		}
	}
	if file == FileBackup && e.o.Backup == nil || file == FileSupport && e.o.Support == nil {
		return problem.New(problem.NotNow, "", "this gateway makes none from its console: use roomgate %s on it", file)
	}
	return m.start(o)
}

// Unmake stops the making of a file, or discards the one that was made.
func (e *Errands) Unmake(file string) error {
	m, err := e.makerOf(file)
	if err != nil {
		return err
	}
	return m.end()
}

// Made is a file that was made, with its length. It may be closed while it is read.
func (e *Errands) Made(file string) (io.ReaderAt, int64, error) {
	m, err := e.makerOf(file)
	if err != nil {
		return nil, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.made == nil {
		return nil, 0, problem.New(problem.NotFound, "file", "is not there: have it made first")
	}
	return m.made, m.now.Size, nil
}

// LastBackup is the last backup that somebody has taken away; known is false: there is none.
func (e *Errands) LastBackup() (_ backup.Note, known bool, err error) {
	return backup.ReadNote(e.o.Folder)
}

// Taken notes that somebody has taken a file away whole.
func (e *Errands) Taken(file string, size int64) error {
	if file != FileBackup {
		return nil
	}
	return backup.WriteNote(e.o.Folder, backup.Note{At: time.Now().UTC().Truncate(time.Second), Size: size})
}
