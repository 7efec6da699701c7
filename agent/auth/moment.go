package auth

import "time"

// clockSkew is how far a trusted wall clock may step back between two runs
// without making what was issued before look as if it came from the future.
const clockSkew = time.Minute

// Moment is a point in time as a gateway can know it.
type Moment struct {
	Boot    string        `json:"b"`           // the run of the process
	Up      time.Duration `json:"u"`           // since that run started, by the monotonic clock
	Milli   int64         `json:"w"`           // wall clock, Unix time in ms
	Trusted bool          `json:"t,omitempty"` // the wall clock was trusted
}

// Since is how long ago then was. It is not known if then was in another run
// and one of the two wall clocks was not trusted, or if then is in the future.
func (m Moment) Since(then Moment) (elapsed time.Duration, known bool) {
	switch {
	case m.Boot == then.Boot:
		elapsed = m.Up - then.Up // negative if two have taken their moments at once
	case m.Trusted && then.Trusted:
		elapsed = time.Duration(m.Milli-then.Milli) * time.Millisecond
	default:
		return 0, false
	}
	if elapsed < -clockSkew {
		return 0, false
	}
	return max(elapsed, 0), true
}

// Within says whether then was less than so long ago. It is not if that
// cannot be known.
func (m Moment) Within(then Moment, limit time.Duration) bool {
	elapsed, known := m.Since(then)
	return known && elapsed < limit
}
