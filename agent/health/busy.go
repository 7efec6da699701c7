package health

import (
	"fmt"
	"time"

	"roomgate/agent/schedule"
)

// busyNotice is how long before a meeting the gateway does not restart.
const busyNotice = 15 * time.Minute

// Busy is why a restart would disturb somebody now, or "": a meeting is under
// way in some meeting space or begins soon, or there are people in it.
func (m *Monitor) Busy() string {
	now := m.o.Clock.Now()
	for _, s := range m.o.Spaces() {
		if why := s.busy(now); why != "" {
			return why
		}
	}
	return ""
}

func (s Space) busy(now time.Time) string {
	g := s.Room.At(now)
	clock := func(t time.Time) string { return t.In(s.Room.Rules().Zone).Format("15:04") }
	switch {
	case s.Presence().Value == schedule.Occupied:
		return fmt.Sprintf("there are people in %s", s.Name)
	case g.Current != nil:
		return fmt.Sprintf("%s has a meeting until %s", s.Name, clock(g.Current.End))
	case g.Next != nil && g.Next.Start.Sub(now) <= busyNotice:
		return fmt.Sprintf("%s has a meeting at %s", s.Name, clock(g.Next.Start))
	}
	return ""
}
