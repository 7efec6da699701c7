package update

import (
	"context"
	"errors"
	"io"
)

// Take installs a bundle that somebody has brought, and keeps why one was not taken. again
// takes a release that was tried and given up.
func (u *Runner) Take(ctx context.Context, bundle io.Reader, again bool) (Release, error) {
	o := u.Taking
	o.Again = again
	one, err := u.Install(ctx, bundle, o)
	if err == nil {
		u.Log.Info("an update is installed and waits for its trial", "release", one.Version)
		return one, nil
	}
	u.Log.Warn("an update was not taken", "error", err)
	if refused := (*Refused)(nil); errors.As(err, &refused) {
		if err := u.NoteRefusal(refused, ""); err != nil {
			u.Log.Warn("cannot note that the update was refused", "error", err)
		}
	}
	return one, err
}

// Waiting says in a few words which update waits, for people; empty: none.
func (u Status) Waiting() string {
	switch {
	case u.Trial != nil:
		return "an update is on trial"
	case u.Next != "" && u.Waits != "":
		return u.Next + " waits: " + u.Waits
	case u.Next != "":
		return u.Next + " is about to be tried"
	case u.Fetch != nil:
		return "an update is being fetched"
	case u.Failed != nil:
		return "the last update was given up: see roomgate update status"
	}
	return ""
}
