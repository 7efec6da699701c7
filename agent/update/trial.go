package update

import (
	"errors"
	"fmt"
)

// Begin lets the next start be the trial of the release that was installed.
// online says whether the cloud is reached now, and so has to be reached then. A
// release that is not as it was signed is given up, and the error says so: no
// gateway ends for what would not start.
func (r *Releases) Begin(online bool) error {
	var forged error
	err := r.change(func(s *State) error {
		if s.Next == nil {
			return errors.New("no release waits for its trial")
		}
		one, err := r.verify(s.Next.Version, 0)
		if err != nil {
			forged = fmt.Errorf("release %s is given up: %w", s.Next.Version, err)
			s.notStarted(append(s.NotStarted, NotStarted{s.Next.Version, err.Error()}))
			s.Next, s.NextAt = nil, nil
			return nil
		}
		defer one.Close()
		s.Trial = &Trial{Release: *s.Next, From: r.Running, FromSchema: r.Schema, Online: online}
		s.Next, s.NextAt = nil, nil
		s.tell(News{Event: Begun, Version: s.Trial.Version, From: r.Running})
		return nil
	})
	return errors.Join(err, forged)
}

// OnTrial returns the trial that this program is, nil if it is none.
func (r *Releases) OnTrial() *Trial {
	if t := r.State().Trial; t != nil && t.Version == Canonical(r.Running) {
		return t
	}
	return nil
}

// Confirm ends the trial well: from now on this release is the one that runs.
func (r *Releases) Confirm() error {
	var good State
	err := r.change(func(s *State) error {
		if s.Trial == nil {
			return errors.New("no release is on trial")
		}
		one := s.Trial.Release
		s.tell(News{Event: Done, Version: one.Version, From: s.Trial.From})
		s.Current, s.Previous, s.Trial, s.Newest, s.Failed = &one, s.Current, nil, one.Version, nil
		good = *s
		return nil
	})
	if err != nil {
		return err
	}
	return r.write(goodFile, good)
}

// Fail gives the trial up. The next start is that of the release before.
func (r *Releases) Fail(reason string) error {
	return r.change(func(s *State) error {
		if s.Trial == nil {
			return errors.New("no release is on trial")
		}
		s.fail(reason)
		return nil
	})
}

// StepBack lets step bring the database back to the schema of before a trial that
// failed, if the program that is to run knows no newer one. step returns the file
// in which the newer database is, or "" if there was nothing to do.
func (r *Releases) StepBack(knows int, step func(schema int) (aside string, err error)) error {
	back := r.State().Back
	if back == 0 {
		return nil
	}
	aside := ""
	if knows <= back {
		var err error
		if aside, err = step(back); err != nil {
			return err
		}
	}
	return r.change(func(s *State) error {
		s.Back = 0
		if aside != "" {
			s.tell(News{Event: Back, Reason: "rows stored during the trial are in " + aside})
		}
		return nil
	})
}

// Told forgets news that are stored elsewhere now.
func (r *Releases) Told(n int) error {
	if n == 0 {
		return nil
	}
	return r.change(func(s *State) error {
		s.News = s.News[min(n, len(s.News)):]
		return nil
	})
}
