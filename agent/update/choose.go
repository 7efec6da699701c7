package update

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Releases are those of one gateway.
type Releases struct {
	Dir     string // of the releases, in the data folder
	Running string // the version of this program
	Schema  int    // of the database in use
	disk    disk

	installing sync.Mutex // held while a bundle comes in
	mu         sync.Mutex // of the state
}

// New returns the releases below a data folder, for the program of that version,
// which leaves the database in that schema. It touches nothing.
func New(data, version string, schema int) *Releases {
	return &Releases{Dir: filepath.Join(data, Dir), Running: version, Schema: schema, disk: realDisk{}}
}

// Path is where the binary of a release is.
func (r *Releases) Path(one Release) string { return filepath.Join(r.Dir, one.Version, binaryName) }

// Choose decides which release the packaged binary becomes, and counts the start
// of one on trial before it returns it; nil is the packaged binary itself. The
// error is what else went wrong: whatever it says, the choice is to be followed.
func (r *Releases) Choose() (chosen *Release, err error) {
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
func (r *Releases) try(s *State) (*Release, error) {
	one, reason := s.Trial.Release, ""
	if Compare(one.Version, r.Running) <= 0 {
		reason = fmt.Sprintf("the package that was installed meanwhile has %s", r.Running)
	} else if s.Trial.Tries >= MaxTries {
		reason = fmt.Sprintf("it was started %d times and did not prove itself", s.Trial.Tries)
	} else if err := r.verify(one); err != nil {
		reason = err.Error()
	}
	if reason != "" {
		s.fail(reason)
		return nil, errors.Join(fmt.Errorf("release %s is given up: %s", one.Version, reason), r.write(stateFile, *s))
	}
	s.Trial.Tries++
	if err := r.write(stateFile, *s); err != nil {
		return nil, fmt.Errorf("release %s is not tried now: %w", one.Version, err)
	}
	return &one, nil
}

// confirmed returns the newest confirmed release that is newer than the package
// and whole.
func (r *Releases) confirmed(s *State) (*Release, error) {
	var errs []error
	for _, one := range []*Release{s.Current, s.Previous} {
		if one == nil || Compare(one.Version, r.Running) <= 0 || one.Schema < s.Current.Schema {
			continue
		}
		err := r.verify(*one)
		if err == nil {
			return one, errors.Join(errs...)
		}
		errs = append(errs, fmt.Errorf("release %s cannot run: %w", one.Version, err))
		if n := (News{Event: Damaged, Version: one.Version, Reason: err.Error()}); len(s.News) == 0 || s.News[len(s.News)-1] != n {
			s.tell(n)
			errs = append(errs, r.write(stateFile, *s))
		}
	}
	return nil, errors.Join(errs...)
}

// Unstartable notes that the system refused to start a release that was chosen.
func (r *Releases) Unstartable(one Release, cause error) error {
	return r.change(func(s *State) error {
		if s.Trial != nil && s.Trial.Release == one {
			s.fail(fmt.Sprintf("the system does not start it: %v", cause))
			return nil
		}
		s.tell(News{Event: Damaged, Version: one.Version, Reason: fmt.Sprintf("the system does not start it: %v", cause)})
		return nil
	})
}

// verify makes sure that a release is the file that was signed.
func (r *Releases) verify(one Release) error {
	f, err := os.Open(r.Path(one))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() != one.Size {
		return fmt.Errorf("%s is not the file that was installed: it has %d bytes, not %d", f.Name(), info.Size(), one.Size)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != one.SHA256 {
		return fmt.Errorf("%s is not the file that was installed: its checksum differs", f.Name())
	}
	return nil
}
