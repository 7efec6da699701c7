package update

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
)

// Releases are those of one gateway.
type Releases struct {
	Dir     string              // of the releases, in the data folder
	Running string              // the version of this program
	Schema  int                 // of the database in use
	Keys    []ed25519.PublicKey // that releases are signed with, from where the gateway's user cannot write
	// Release says that this program was started as a release, not as the package.
	Release bool
	disk    disk

	installing sync.Mutex // held while a bundle comes in
	mu         sync.Mutex // of the state
}

// New returns the releases below a data folder, for the program of that version,
// which leaves the database in that schema and trusts those keys. It touches
// nothing.
func New(data, version string, schema int, keys []ed25519.PublicKey) *Releases {
	return &Releases{Dir: filepath.Join(data, Dir), Running: version, Schema: schema, Keys: keys, disk: realDisk{}}
}

// Path is where the binary of a release is.
func (r *Releases) Path(one Release) string { return filepath.Join(r.Dir, one.Version, binaryName) }

// Start is a release that is to run, as it was signed, with its program.
type Start struct {
	Release
	*Program
}

// Choose decides which release the packaged binary becomes, and counts the start
// of one on trial before it returns it; nil is the packaged binary itself. The
// error is what else went wrong: whatever it says, the choice is to be followed.
func (r *Releases) Choose() (chosen *Start, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.read()
	if s.Trial != nil {
		one, problem := r.try(&s)
		if err = errors.Join(err, problem); one != nil {
			return one, err
		}
	}
	one, problem := r.confirmed(&s)
	return one, errors.Join(err, problem)
}

// try returns the release on trial, if it may be started once more and that is
// on the disk. Else it is given up, or left for another time if the disk takes
// nothing: what cannot be counted must not be started.
func (r *Releases) try(s *State) (*Start, error) {
	version := s.Trial.Version
	one, reason := (*Start)(nil), ""
	if Compare(version, r.Running) <= 0 {
		reason = fmt.Sprintf("the package that was installed meanwhile has %s", r.Running)
	} else if Compare(version, s.Newest) < 0 {
		reason = fmt.Sprintf("it is older than %s, which has run here", s.Newest)
	} else if s.Trial.Tries >= MaxTries {
		reason = fmt.Sprintf("it was started %d times and did not prove itself", s.Trial.Tries)
	} else {
		var err error
		if one, err = r.verify(version, 0); err != nil {
			reason = err.Error()
		}
	}
	if reason != "" {
		s.fail(reason)
		return nil, errors.Join(fmt.Errorf("release %s is given up: %s", version, reason), r.write(stateFile, *s))
	}
	s.Trial.Release = one.Release // whatever was noted of it
	s.Trial.Tries++
	if err := r.write(stateFile, *s); err != nil {
		return nil, errors.Join(fmt.Errorf("release %s is not tried now: %w", version, err), one.Close())
	}
	return one, nil
}

// confirmed returns the newest confirmed release that is newer than the package
// and whole, and notes those that are not.
func (r *Releases) confirmed(s *State) (chosen *Start, err error) {
	var not []NotStarted
	schema := 0 // that the one before has to know
	for _, one := range []*Release{s.Current, s.Previous} {
		if one == nil || Compare(one.Version, r.Running) <= 0 {
			continue
		}
		start, problem := r.kept(s, one.Version, schema)
		if problem == nil {
			chosen = start
			break
		}
		schema = one.Schema
		not = append(not, NotStarted{one.Version, problem.Error()})
		err = errors.Join(err, fmt.Errorf("release %s is not started: %w", one.Version, problem))
	}
	for _, n := range s.NotStarted {
		if chosen != nil && n.Version == chosen.Version {
			not = append(not, n) // until it runs
		}
	}
	if slices.Equal(not, s.NotStarted) {
		return chosen, err
	}
	s.notStarted(not)
	return chosen, errors.Join(err, r.write(stateFile, *s))
}

// kept returns a confirmed release.
func (r *Releases) kept(s *State, version string, schema int) (*Start, error) {
	if Compare(version, s.floor) < 0 {
		return nil, fmt.Errorf("it is older than %s, which was kept here", s.floor)
	}
	return r.verify(version, schema)
}

// verify returns a release as it was signed. It must know at least that schema.
func (r *Releases) verify(version string, schema int) (*Start, error) {
	m, err := r.manifest(version)
	if err != nil {
		return nil, err
	}
	if m.Schema < schema {
		return nil, fmt.Errorf("it knows schema %d of the database, and that is in schema %d", m.Schema, schema)
	}
	p, err := load(r.Path(m.release()), m)
	if err != nil {
		return nil, err
	}
	return &Start{m.release(), p}, nil
}

// Unstartable notes that the system refused to start a release that was chosen.
func (r *Releases) Unstartable(version string, cause error) error {
	return r.change(func(s *State) error {
		reason := fmt.Sprintf("the system does not start it: %v", cause)
		if s.Trial != nil && s.Trial.Version == version {
			s.fail(reason)
		} else if n := (NotStarted{version, reason}); !slices.Contains(s.NotStarted, n) {
			s.notStarted(append(s.NotStarted, n))
		}
		return nil
	})
}

// Runs forgets that this release was not started once.
func (r *Releases) Runs() error {
	mine := func(n NotStarted) bool { return n.Version == Canonical(r.Running) }
	if !r.Release || !slices.ContainsFunc(r.State().NotStarted, mine) {
		return nil
	}
	return r.change(func(s *State) error {
		s.NotStarted = slices.DeleteFunc(s.NotStarted, mine)
		return nil
	})
}
