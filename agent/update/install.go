package update

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// spare is the disk that an update leaves to the database, in bytes.
const spare = 32 << 20

// Install is what Releases.Install goes by.
type Install struct {
	// Again takes a release that was tried and given up.
	Again bool
	// Probe starts the verified program to see that it can and is what the
	// manifest says; nil: it is believed.
	Probe func(ctx context.Context, p *Program, m Manifest) error
}

// Install verifies a bundle and unpacks it beside what runs. Its trial begins
// with Begin. A bundle that is not taken is a *Refused, and changes nothing that
// runs.
func (r *Releases) Install(ctx context.Context, bundle io.Reader, o Install) (one Release, err error) {
	if !r.installing.TryLock() {
		return one, refuse(Busy, "another update is just being installed: wait for it")
	}
	defer r.installing.Unlock()
	b, err := Open(bundle, r.Keys)
	if err != nil {
		return one, err
	}
	s := r.State()
	one = b.release()
	if waits := s.Next != nil && *s.Next == one; waits || r.isMe(s, one) {
		if !r.hasSignature(b) {
			return one, full(r.sign(b))
		}
		if waits {
			return one, nil
		}
	}
	if err := r.acceptable(b.Manifest, s, o.Again); err != nil {
		return one, err
	}
	if err := r.prepare(b.Size); err != nil {
		return one, full(err)
	}
	if err := r.unpack(ctx, b, o.Probe); err != nil {
		return one, errors.Join(full(err), r.disk.RemoveAll(r.part(one)))
	}
	return one, full(r.change(func(s *State) error {
		now := time.Now().UTC().Truncate(time.Second)
		s.Next, s.NextAt, s.Refused = &one, &now, nil
		s.tell(News{Event: Installed, Version: one.Version, From: r.Running})
		return nil
	}))
}

// isMe says whether this program was started as that release.
func (r *Releases) isMe(s State, one Release) bool {
	return r.Release && one.Version == Canonical(r.Running) && slices.Contains(s.known(), one)
}

// acceptable says why a release is not for this gateway, now or ever.
func (r *Releases) acceptable(m Manifest, s State, again bool) error {
	fits := m.fits()
	switch {
	case s.Trial != nil:
		return refuse(Busy, "%s is on trial: wait until it has proved itself or was given up", s.Trial.Version)
	case fits != nil:
		return fits
	case m.Schema < r.Schema:
		return refuse(OldSchema, "%s writes the database in schema %d and schema %d is in use, which it could not read: get a newer release", m.Version, m.Schema, r.Schema)
	case Compare(m.Version, r.Running) <= 0:
		return refuse(Old, "%s is not newer than %s, which runs: get a newer release", m.Version, r.Running)
	case s.Newest != "" && Compare(m.Version, s.Newest) < 0:
		return refuse(Old, "%s is older than %s, which has run here: an old release is not taken again", m.Version, s.Newest)
	case s.Failed != nil && s.Failed.SHA256 == m.SHA256 && !again:
		return refuse(GivenUp, "%s was tried and given up (%s): get a newer release, or try it once more with --again", m.Version, s.Failed.Reason)
	}
	return nil
}

// prepare leaves only what runs, and makes sure that the disk can take one more.
func (r *Releases) prepare(size int64) error {
	if err := errors.Join(r.disk.Mkdir(r.Dir), r.disk.SyncDir(filepath.Dir(r.Dir))); err != nil {
		return err
	}
	if err := r.keepRunning(); err != nil {
		return err
	}
	if err := r.tidy(); err != nil {
		return err
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(r.Dir, &disk); err != nil {
		return err
	}
	if free := int64(disk.Bavail) * int64(disk.Bsize); free < size+spare {
		return refuse(DiskFull, "the update needs %d MB of disk and %d MB are free: free space", (size+spare)>>20, free>>20)
	}
	return nil
}

// keepRunning drops every release but the one that runs.
func (r *Releases) keepRunning() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, damaged := r.read()
	var kept *Release
	for _, one := range []*Release{s.Current, s.Previous} {
		if one != nil && one.Version == Canonical(r.Running) {
			kept = one
		}
	}
	if s.Current == kept && s.Previous == nil && s.Next == nil && s.NotStarted == nil && damaged == nil {
		return nil
	}
	s.Current, s.Previous, s.Next, s.NextAt, s.NotStarted = kept, nil, nil, nil, nil
	return r.write(stateFile, s)
}

func (r *Releases) part(one Release) string { return filepath.Join(r.Dir, one.Version+".part") }

// unpack makes the folder of a release appear whole or not at all.
func (r *Releases) unpack(ctx context.Context, b *Bundle, probe func(context.Context, *Program, Manifest) error) error {
	part := r.part(b.release())
	if err := errors.Join(r.disk.RemoveAll(part), r.disk.Mkdir(part)); err != nil {
		return err
	}
	path := filepath.Join(part, binaryName)
	f, err := r.disk.Create(path, 0o700)
	if err != nil {
		return err
	}
	if err := errors.Join(b.Unpack(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := writeWhole(r.disk, filepath.Join(part, signedFile), b.signed); err != nil {
		return err
	}
	if probe != nil {
		if err := r.probe(ctx, path, b.Manifest, probe); err != nil {
			return err
		}
	}
	return errors.Join(r.disk.Rename(part, filepath.Join(r.Dir, b.Version)), r.disk.SyncDir(r.Dir))
}

// probe tries what is on the disk as a start would.
func (r *Releases) probe(ctx context.Context, path string, m Manifest, probe func(context.Context, *Program, Manifest) error) error {
	p, err := load(path, m)
	if err != nil {
		return err
	}
	return errors.Join(probe(ctx, p, m), p.Close())
}

// Prune removes what an interrupted update or a release that was given up has
// left behind, unless one is just coming in, which does the same.
func (r *Releases) Prune() error {
	if !r.installing.TryLock() {
		return nil
	}
	defer r.installing.Unlock()
	return r.tidy()
}

func (r *Releases) tidy() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.read()
	if err != nil { // it may not be known what is needed
		return err
	}
	return r.prune(s)
}

func (r *Releases) prune(s State) error {
	entries, err := os.ReadDir(r.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		needed := slices.ContainsFunc(s.known(), func(one Release) bool { return one.Version == e.Name() })
		if e.IsDir() && !needed {
			err = errors.Join(err, r.disk.RemoveAll(filepath.Join(r.Dir, e.Name())))
		}
	}
	return err
}

// noRoom says a full disk in words.
func noRoom(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return refuse(DiskFull, "the disk is full, what runs was not changed: free space")
	}
	return err
}

// full says what went wrong with the disk.
func full(err error) error {
	err = noRoom(err)
	if err != nil && !errors.As(err, new(*Refused)) {
		return fmt.Errorf("install the update: %w", err)
	}
	return err
}
