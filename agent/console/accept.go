package console

import "time"

// accept is the page for somebody who stands in a room, with a phone: find each device,
// and prove the room.
func accept() Section {
	return Section{Name: "accept", Title: "Identify and accept", Hidden: true, Least: System, Parts: []string{"ask", "find", "walk"}, View: viewAccept}
}

// walkLook is how often the page looks at a walk that is under way.
const walkLook = 300 * time.Millisecond

// Accept is what the page shows.
type Accept struct {
	ID, Name string
	Devices  []Link // that can be found, by type
	Walk     Walk
}

// Heading is the name of the space with what is done to it.
func (v Accept) Heading() string { return v.Name + ": identify and accept" }

func viewAccept(l *Look) (any, time.Time, error) {
	s, err := l.space()
	if err != nil {
		return nil, time.Time{}, err
	}
	v := Accept{ID: s.ID, Name: s.Name, Walk: l.WalkOf(s.ID)}
	for _, d := range s.Devices {
		if d.Live().Enabled {
			v.Devices = append(v.Devices, Link{d.Type, typeWords[d.Type]})
		}
	}
	return v, time.Now().Add(walkLook), nil
}
