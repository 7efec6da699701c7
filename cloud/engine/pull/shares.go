package pull

import (
	"slices"
	"time"
)

// shares is who has which partitions, as the bucket keeps it.
type shares map[string]share // by the name of a backend

type share struct {
	Beat uint64 `json:"beat"` // rises while the backend lives
	Has  []int  `json:"has"`
}

// How often a backend says that it lives, when it takes none any more of what it has because it
// could not say so, and when others take what one has that says nothing. A backend has stopped
// before others begin, by the clock of each, whatever time of day these have.
const (
	beatEvery  = time.Second
	stopAfter  = 5 * time.Second
	deathAfter = 10 * time.Second
)

// observer knows since when each backend says the same.
type observer map[string]struct {
	beat  uint64
	since time.Time
}

// see notes what the others say, and forgets who says nothing new for too long.
func (o observer) see(s shares, now time.Time) {
	for name, is := range s {
		was, known := o[name]
		if !known || was.beat != is.Beat {
			was.beat, was.since = is.Beat, now
			o[name] = was
		}
		if now.Sub(was.since) >= deathAfter {
			delete(s, name)
			delete(o, name)
		}
	}
}

// take gives a backend what it has, and of what nobody has as much as its part. more is what
// it has beyond its part: it may give that up.
func (s shares) take(name string, has []int, partitions int) (mine, more []int) {
	me := s[name]
	me.Beat++
	s[name] = me
	part := (partitions + len(s) - 1) / len(s)
	taken := map[int]bool{}
	for other, is := range s {
		for _, p := range is.Has {
			if other != name {
				taken[p] = true
			}
		}
	}
	for _, p := range has {
		if !taken[p] { // else it was taken for dead
			mine = append(mine, p)
		}
	}
	for p := range partitions {
		if len(mine) < part && !taken[p] && !slices.Contains(mine, p) {
			mine = append(mine, p)
		}
	}
	me.Has = mine
	s[name] = me
	if len(mine) > part {
		more = mine[part:]
	}
	return mine, more
}
