package rollout

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Plan says how fast a rollout goes, and when it stops.
type Plan struct {
	// Canary is how many gateways come first; the others wait until each of these has
	// taken it. 0: none comes first.
	Canary int `json:"canary"`
	// PerMinute is how many are sent it per minute, above 0 and at most 10,000.
	PerMinute float64 `json:"per_minute"`
	// Growth multiplies that each time as many more have taken it as GrowAfter says, up to
	// Most; 0 or 1: it stays. GrowAfter 0: as many as PerMinute. Most 0: 10,000.
	Growth    float64 `json:"growth,omitempty"`
	GrowAfter int     `json:"grow_after,omitempty"`
	Most      float64 `json:"most_per_minute,omitempty"`
	// StopShare is the share of failures, above 0 and up to 1, that stops the rollout once
	// StopAfter gateways have ended, well or not; 0: none does.
	StopShare float64 `json:"stop_share,omitempty"`
	StopAfter int     `json:"stop_after,omitempty"`
	// TimeoutS is how many seconds a gateway may take, 1 to 30 days: then it has failed. It
	// may still come later.
	TimeoutS int `json:"timeout_s"`
}

// mostPerMinute is how fast a rollout goes at most, longest how long a gateway may take.
const (
	mostPerMinute = 10_000
	longest       = 30 * 24 * time.Hour
)

// Check refuses a plan that is none.
func (p Plan) Check() error {
	switch {
	case p.Canary < 0:
		return fmt.Errorf("canary is %d: want 0 or more", p.Canary)
	case !(p.PerMinute > 0 && p.PerMinute <= mostPerMinute):
		return fmt.Errorf("per_minute is %v: want more than 0 and at most %d", p.PerMinute, mostPerMinute)
	case p.Growth != 0 && !(p.Growth >= 1 && p.Growth <= 10):
		return fmt.Errorf("growth is %v: want 1 to 10", p.Growth)
	case p.GrowAfter < 0:
		return fmt.Errorf("grow_after is %d: want 0 or more", p.GrowAfter)
	case p.Most != 0 && !(p.Most >= p.PerMinute && p.Most <= mostPerMinute):
		return fmt.Errorf("most_per_minute is %v: want per_minute to %d", p.Most, mostPerMinute)
	case !(p.StopShare >= 0 && p.StopShare <= 1):
		return fmt.Errorf("stop_share is %v: want 0 to 1", p.StopShare)
	case p.StopAfter < 0:
		return fmt.Errorf("stop_after is %d: want 0 or more", p.StopAfter)
	case p.TimeoutS < 1 || p.timeout() > longest:
		return errors.New("timeout_s is out of range: want 1 second to 30 days")
	}
	return nil
}

func (p Plan) timeout() time.Duration { return time.Duration(p.TimeoutS) * time.Second }

// pace is how long it takes from one gateway to the next once so many have taken it.
func (p Plan) pace(taken int) time.Duration {
	rate, after := p.PerMinute, p.GrowAfter
	if after == 0 {
		after = int(math.Ceil(p.PerMinute))
	}
	if p.Growth > 1 {
		most := p.Most
		if most == 0 {
			most = mostPerMinute
		}
		rate = min(rate*math.Pow(p.Growth, float64(max(0, taken-p.Canary)/after)), most)
	}
	return time.Duration(float64(time.Minute) / rate)
}

// The states of a rollout.
const (
	Running = "running"
	Paused  = "paused"  // somebody has paused it
	Stopped = "stopped" // too many have failed
	Aborted = "aborted" // somebody has ended it
	Done    = "done"    // nobody waits any more
)

// Counts are how many gateways are in which state.
type Counts struct {
	Waiting int `json:"waiting"`
	Sent    int `json:"sent"` // and have not answered
	Taken   int `json:"taken"`
	Refused int `json:"refused"`
	Late    int `json:"late"` // have not answered in time; they may still
}

func (c Counts) failed() int { return c.Refused + c.Late }
func (c Counts) ended() int  { return c.Taken + c.failed() }

// of is the count of those in a state.
func (c *Counts) of(state string) *int {
	switch state {
	case stepTaken:
		return &c.Taken
	case stepRefused:
		return &c.Refused
	case stepLate:
		return &c.Late
	case stepWaiting:
		return &c.Waiting
	}
	return &c.Sent
}

// Rollout is how a rollout stands.
type Rollout struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Release string    `json:"release,omitempty"` // that the gateways are to run; empty: only a configuration
	Plan    Plan      `json:"plan"`
	Begun   time.Time `json:"begun"`
	State   string    `json:"state"`
	Why     string    `json:"why,omitempty"` // it is stopped
	Counts  Counts    `json:"gateways"`
	// Next is when the next gateway is sent it; zero: at once.
	Next time.Time `json:"next,omitzero"`
	// Forgiven are failures, and Ended those that had ended, when somebody resumed it after
	// a stop: they stop it no more.
	Forgiven int `json:"forgiven,omitempty"`
	Ended    int `json:"forgiven_of,omitempty"`
}

// over says that nobody is sent it any more.
func (r *Rollout) over() bool { return r.State == Aborted || r.State == Done }

// sent is how many were sent it at all.
func (r *Rollout) sent() int { return r.Counts.Sent + r.Counts.ended() }

// burst is how much of the time that nobody looked is made up for, mostAtOnce how many
// are sent it in one look.
const (
	burst      = 2 * time.Second
	mostAtOnce = 500
)

// due is how many are to be sent it now. The caller moves as many.
func (r *Rollout) due(now time.Time) (n int) {
	canaries := min(r.Plan.Canary, r.sent()+r.Counts.Waiting)
	switch {
	case r.State != Running:
		return 0
	case r.sent() < canaries:
		return min(canaries-r.sent(), mostAtOnce)
	case r.Counts.ended() < canaries:
		return 0
	}
	if earliest := now.Add(-burst); r.Next.Before(earliest) {
		r.Next = earliest
		if r.sent() == canaries { // nobody was late yet
			r.Next = now
		}
	}
	for pace := r.Plan.pace(r.Counts.Taken); n < min(r.Counts.Waiting, mostAtOnce) && !r.Next.After(now); n++ {
		r.Next = r.Next.Add(pace)
	}
	return n
}

// moved notes that a gateway went from one state to another, and what follows from it.
func (r *Rollout) moved(from, to string) {
	*r.Counts.of(from)--
	*r.Counts.of(to)++
	r.judge()
}

// judge stops the rollout if too many have failed, and ends it if nobody is left.
func (r *Rollout) judge() {
	if r.State != Running {
		return
	}
	failed, ended := r.Counts.failed()-r.Forgiven, r.Counts.ended()-r.Ended
	switch {
	case failed > 0 && r.sent() <= r.Plan.Canary:
		r.State, r.Why = Stopped, "one of the first gateways has not taken it"
	case r.Plan.StopShare > 0 && failed > 0 && ended >= r.Plan.StopAfter && float64(failed) >= r.Plan.StopShare*float64(ended):
		r.State, r.Why = Stopped, fmt.Sprintf("%d of %d gateways have not taken it", failed, ended)
	case r.Counts.Waiting == 0 && r.Counts.Sent == 0:
		r.State, r.Why = Done, ""
	}
}

// ErrState is returned for a rollout that is not in a state for what is wanted.
var ErrState = errors.New("the rollout is in another state")

// turn brings the rollout into a state that somebody wants.
func (r *Rollout) turn(to string) error {
	switch {
	case r.over(), to == Paused && r.State != Running, to == Running && r.State == Running:
		return fmt.Errorf("%w: it is %s", ErrState, r.State)
	case to == Running && r.State == Stopped:
		r.Forgiven, r.Ended = r.Counts.failed(), r.Counts.ended()
	}
	r.State, r.Why = to, ""
	if to == Running {
		r.judge()
	}
	return nil
}
