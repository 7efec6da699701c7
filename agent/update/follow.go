package update

import (
	"context"
	"errors"
	"time"

	"roomgate/agent/outgoing"
)

const (
	fetchTime  = 30 * time.Minute
	firstRetry = time.Minute
	lastRetry  = time.Hour
	// goodTry is what a try that ends early must have brought, in bytes, for the
	// next one to come soon.
	goodTry = 256 << 10
	// maxMissing is how often a server may say that it has no such bundle: some
	// hours.
	maxMissing = 8
)

// retry is when a URL that could not be fetched is tried again.
type retry struct {
	url     string
	at      time.Time
	wait    time.Duration
	missing int // times that the server said it has none
}

// keepFollowing installs what the cloud wants, as it comes to want it.
func (u *Runner) keepFollowing(ctx context.Context) {
	u.forget(u.Gateway.URL())
	for {
		u.follow(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(u.Pace.Poll):
		}
	}
}

// follow installs the bundle that the cloud wants. Each address is dealt with
// once: a bundle that is refused stays refused. One that cannot be fetched, or has
// no room, is tried again, less and less often.
func (u *Runner) follow(ctx context.Context) {
	want := u.Gateway.URL()
	s := u.State()
	if u.retry.url != want {
		u.retry = retry{url: want}
		u.fetching.Store(nil)
		u.forget(want)
	}
	if want == "" || u.Fetch == nil || want == s.Asked || s.Trial != nil {
		return
	}
	if time.Now().Before(u.retry.at) {
		return
	}
	_, before := u.halfway(want)
	u.fetching.Store(&Fetching{URL: place(want)})
	one, err := u.fetch(ctx, want)
	if err != nil && ctx.Err() != nil {
		return
	}
	refused := (*Refused)(nil)
	switch errors.As(err, &refused); {
	case err == nil:
		u.Log.Info("the update that the cloud wants is installed and waits for its trial", "release", one.Version)
		err = u.asked(want, nil)
	case refused != nil && refused.Cause == NotThere && u.retry.missing < maxMissing:
		u.retry.missing++
	case refused != nil && !refused.passes():
		u.Log.Warn("the update that the cloud wants is not taken", "url", place(want), "reason", refused.Reason)
		err = u.asked(want, refused)
	case refused != nil:
		err = errors.Join(err, u.NoteRefusal(refused, want))
	}
	u.fetching.Store(nil)
	if err != nil {
		u.later(want, before, err)
	}
}

// later lets an address be tried again.
func (u *Runner) later(want string, before int64, problem error) {
	if _, after := u.halfway(want); after >= before+goodTry {
		u.retry.wait = 0
	}
	u.retry.wait = min(max(2*u.retry.wait, firstRetry), lastRetry)
	u.retry.at = time.Now().Add(u.retry.wait)
	u.fetching.Store(&Fetching{URL: place(want), Problem: problem.Error()})
	u.Log.Warn("the update that the cloud wants cannot be fetched, it is tried again", "url", place(want), "in", u.retry.wait, "error", problem, "reason", outgoing.Reason(problem))
}

// forget removes what has arrived of another bundle than the one that is wanted.
func (u *Runner) forget(want string) {
	if _, have := u.halfway(want); have > 0 {
		return
	}
	if err := u.drop(); err != nil {
		u.Log.Warn("cannot remove the remains of a download", "error", err)
	}
}

// asked notes that an address was dealt with.
func (u *Runner) asked(from string, refused *Refused) error {
	return u.change(func(s *State) error {
		s.Asked = from
		if refused != nil {
			s.refuse(refused, from)
		}
		return nil
	})
}
