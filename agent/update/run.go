package update

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Gateway is what an update has to know of the building.
type Gateway struct {
	Ready, Progress func() error
	Online          func() bool   // the cloud is reached
	Busy            func() string // why a restart would disturb somebody now, or ""
	URL             func() string // where the bundle is that the cloud wants installed, or ""
	// Note stores an event about the gateway.
	Note func(ctx context.Context, event string, details map[string]any) error
}

// Pace is how long things take.
type Pace struct {
	Steady   time.Duration // a release is confirmed after being healthy for so long
	Patience time.Duration // and given up after so long
	Poll     time.Duration // how often is looked
}

// PaceOf is the pace for releases that are to be healthy for that long.
func PaceOf(steady time.Duration) Pace {
	return Pace{steady, 3 * steady, min(5*time.Second, max(steady/10, 50*time.Millisecond))}
}

// Runner moves the updates of a running gateway.
type Runner struct {
	*Releases
	Gateway Gateway
	Pace    Pace
	Log     *slog.Logger
	// End ends the gateway in order; who supervises it starts it again.
	End func()

	// Fetch is nil if none is fetched, and Taking is how a bundle is taken.
	Fetch  Fetch
	Taking Install

	retry    retry
	fetching atomic.Pointer[Fetching]
	hurry    atomic.Bool
	looked   chan struct{} // holds a token when there is something to look at
}

// NewRunner returns one that does nothing before Run.
func NewRunner(r *Releases, g Gateway, p Pace, log *slog.Logger, end func()) *Runner {
	return &Runner{Releases: r, Gateway: g, Pace: p, Log: log, End: end, looked: make(chan struct{}, 1)}
}

// Look lets Run look now whether a release waits; hurry lets it not wait for a
// moment without a meeting.
func (u *Runner) Look(hurry bool) {
	if hurry {
		u.hurry.Store(true)
	}
	select {
	case u.looked <- struct{}{}:
	default:
	}
}

// Run first proves this release, if it is on trial; an error ends the gateway,
// and the release before runs again. Then it waits for a release and for a moment
// at which nobody is disturbed, and ends the gateway to begin the trial.
func (u *Runner) Run(ctx context.Context) error {
	if err := u.Prune(); err != nil {
		u.Log.Warn("cannot remove the remains of old updates", "error", err)
	}
	if t := u.OnTrial(); t != nil {
		if err := u.prove(ctx, t); err != nil || ctx.Err() != nil {
			return err
		}
	}
	var following sync.WaitGroup
	following.Go(func() { u.keepFollowing(ctx) })
	defer following.Wait()
	for {
		s := u.State()
		u.tellNews(ctx, s.News)
		if s.Next != nil && (u.hurry.Load() || u.Gateway.Busy() == "") {
			u.begin(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-u.looked:
		case <-time.After(u.Pace.Poll):
		}
	}
}

// begin lets the next start be the trial, and ends the gateway.
func (u *Runner) begin(ctx context.Context) {
	next := u.State().Next
	if err := u.Begin(u.Gateway.Online()); err != nil {
		u.Log.Error("the update cannot begin", "error", err)
		return
	}
	u.Log.Info("ending to start a release on trial", "release", next.Version)
	u.tellNews(ctx, u.State().News)
	u.End()
}

// prove confirms the release once it has been healthy for long enough, or gives
// it up. It is nil when ctx has ended: the start stays counted.
func (u *Runner) prove(ctx context.Context, t *Trial) error {
	u.Log.Info("this release is on trial", "release", t.Version, "start", t.Tries, "of", MaxTries)
	began, healthy := time.Now(), time.Now()
	for {
		problem := u.unhealthy(t)
		if problem != nil {
			healthy = time.Now()
		} else if time.Since(healthy) >= u.Pace.Steady {
			if problem = u.Confirm(); problem == nil {
				u.Log.Info("this release has proved itself", "release", t.Version)
				return nil
			}
		}
		if time.Since(began) >= u.Pace.Patience {
			return u.giveUp(t, problem)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(u.Pace.Poll):
		}
	}
}

// unhealthy is why the release has not proved itself.
func (u *Runner) unhealthy(t *Trial) error {
	if err := errors.Join(u.Gateway.Ready(), u.Gateway.Progress()); err != nil {
		return err
	}
	if t.Online && !u.Gateway.Online() {
		return errors.New("the cloud is not reached, and was before")
	}
	return nil
}

func (u *Runner) giveUp(t *Trial, problem error) error {
	reason := fmt.Sprintf("it was not healthy for %s within %s", u.Pace.Steady, u.Pace.Patience)
	if problem != nil {
		reason += ": " + problem.Error()
	}
	err := u.Fail(reason)
	return errors.Join(fmt.Errorf("release %s is given up, %s runs again: %s", t.Version, t.From, reason), err)
}

// tellNews makes events of the outcome of updates. An event may come twice, after
// a power cut, and is never lost.
func (u *Runner) tellNews(ctx context.Context, news []News) {
	for _, n := range news {
		details := map[string]any{}
		for name, value := range map[string]string{"version": n.Version, "from": n.From, "reason": n.Reason, "cause": string(n.Cause), "url": n.URL} {
			if value != "" {
				details[name] = value
			}
		}
		err := u.Gateway.Note(ctx, n.Event, details)
		if err == nil {
			err = u.Told(1)
		}
		if err != nil {
			u.Log.Warn("cannot store the outcome of an update yet", "event", n.Event, "error", err)
			return
		}
	}
}
