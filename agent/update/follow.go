package update

import (
	"context"
	"errors"
	"io"
	"net/url"
	"time"
)

const (
	maxURL     = 2048 // bytes
	fetchTime  = 30 * time.Minute
	firstRetry = time.Minute
	lastRetry  = time.Hour
)

// CheckURL refuses what no bundle is fetched from.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURL || err != nil || u.Hostname() == "":
		return errors.New("is not an address: want https://HOST[:PORT]/PATH")
	case u.Scheme != "https":
		return errors.New("is not https: want https://HOST[:PORT]/PATH")
	case u.User != nil:
		return errors.New("holds a user or a password: leave them out, the bundle is signed")
	}
	return nil
}

// retry is when a URL that could not be fetched is tried again.
type retry struct {
	url  string
	at   time.Time
	wait time.Duration
}

// follow installs the bundle that the cloud wants. Each address is dealt with
// once: a bundle that is refused stays refused. One that cannot be fetched, or has
// no room, is tried again, less and less often.
func (u *Runner) follow(ctx context.Context) {
	want := u.Gateway.UpdateURL()
	s := u.State()
	if want == "" || u.Fetch == nil || want == s.Asked || s.Trial != nil {
		return
	}
	if u.retry.url != want {
		u.retry = retry{url: want}
	}
	if time.Now().Before(u.retry.at) {
		return
	}
	one, err := u.fetch(ctx, want)
	switch refused := (*Refused)(nil); {
	case err == nil:
		u.Log.Info("the update that the cloud wants is installed and waits for its trial", "release", one.Version)
		err = u.asked(want, nil)
	case errors.As(err, &refused) && !refused.passes():
		u.Log.Warn("the update that the cloud wants is not taken", "url", place(want), "reason", refused.Reason)
		err = u.asked(want, refused)
	case errors.As(err, &refused):
		err = errors.Join(err, u.NoteRefusal(refused, want))
	}
	if err != nil {
		u.retry.wait = min(max(2*u.retry.wait, firstRetry), lastRetry)
		u.retry.at = time.Now().Add(u.retry.wait)
		u.Log.Warn("the update that the cloud wants cannot be fetched, it is tried again", "url", place(want), "in", u.retry.wait, "error", err)
	}
}

func (u *Runner) fetch(ctx context.Context, from string) (Release, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	body, err := u.Fetch(ctx, from)
	if err != nil {
		return Release{}, err
	}
	defer body.Close()
	in := &incoming{Reader: body}
	one, err := u.Install(ctx, in, u.Taking)
	if in.err != nil { // what seems to be a short bundle is a line that broke
		return one, in.err
	}
	return one, err
}

// incoming remembers what went wrong on the way.
type incoming struct {
	io.Reader
	err error
}

func (r *incoming) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
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
