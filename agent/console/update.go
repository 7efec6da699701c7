package console

import (
	"time"

	"roomgate/agent/update"
)

// updates are where another release is installed, and how that stands.
func updates() Section {
	return Section{Name: "update", Title: "Update", Hidden: true, Least: System, Parts: []string{"now", "new"}, View: viewUpdates}
}

// Updates is what the page shows.
type Updates struct {
	Lines   []string // how it stands, the most important first; empty: the gateway takes none
	Percent int      // of a bundle that is being fetched
	Fetches bool     // one is, of a known size
	Try     *Button  // nil: none waits
	Takes   bool     // a bundle may be brought
}

// updateLook is how often the page looks at an update that is under way, and updateRest at none.
const (
	updateLook = 2 * time.Second
	updateRest = time.Minute
)

func viewUpdates(l *Look) (any, time.Time, error) {
	u, err := l.o.Errands.Updates()
	if err != nil {
		return Updates{}, time.Time{}, nil // the page says that it takes none
	}
	s := u.Status()
	until := time.Now().Add(updateRest)
	if s.Waiting() != "" {
		until = time.Now().Add(updateLook)
	}
	return newUpdates(s), until, nil
}

func newUpdates(s update.Status) Updates {
	v := Updates{Takes: s.Keys > 0 && s.Trial == nil}
	for _, line := range s.Lines() {
		v.Lines = append(v.Lines, sentence(line))
	}
	if f := s.Fetch; f != nil && f.Size > 0 && f.Problem == "" {
		v.Fetches, v.Percent = true, int(f.Have*100/f.Size)
	}
	if s.Next != "" {
		v.Try = &Button{ID: "try", Label: "Try it now", Send: "POST /console/update/now", Body: struct{}{}, Done: "The gateway starts again with it.",
			Sure: "Start again now? Rooms stand still for some seconds."}
	}
	return v
}
