package unlock

import (
	"maps"
	"slices"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

// CodeSpec is a code that is managed elsewhere.
type CodeSpec struct {
	SpaceID   string         `json:"meeting_space_id"`
	Name      string         `json:"name"` // finds the code that it replaces
	Code      drivers.Secret `json:"code"`
	From      time.Time      `json:"valid_from"`
	Until     time.Time      `json:"valid_until"`
	BookingID string         `json:"booking_id"`
}

// Stage sets the codes of one who manages some, at the doors that there will be.
// mine are the ids of those that he has named before, of which the ones that he
// does not name any more end. ids are those that he has named now. The field of a
// refusal begins with the place in want, as [2].code. After a refusal nothing is
// to be released.
func (cs *Codes) Stage(want []CodeSpec, mine []string, doors []Door, by string) (s eventlog.Stage, ids []string, err error) {
	cs.turn.Lock()
	m := managing{codes: cs, want: want, mine: map[string]bool{}, next: maps.Clone(*cs.bySpace.Load())}
	for _, id := range mine {
		m.mine[id] = true
	}
	if err := m.check(doors); err != nil {
		cs.turn.Unlock()
		return s, nil, err
	}
	return eventlog.Stage{
		Write: func(tx *store.Tx) error {
			for _, c := range m.changes {
				if err := cs.write(tx, c, by); err != nil {
					return err
				}
			}
			return nil
		},
		Show:    func() { cs.bySpace.Store(&m.next) },
		Release: cs.turn.Unlock,
	}, m.ids, nil
}

// managing is a change of several codes that is checked and not yet made.
type managing struct {
	codes   *Codes
	want    []CodeSpec
	mine    map[string]bool
	next    map[string]*codes // as they will be, by space
	ids     []string          // the keys in the table
	changes []change
}

func (m *managing) check(doors []Door) error {
	for i, w := range m.want {
		switch {
		case !slices.ContainsFunc(doors, func(d Door) bool { return d.spaceID() == w.SpaceID }):
			return problem.At(i, problem.New(problem.NotFound, "meeting_space_id", "is not a meeting space with a lock"))
		case w.Code == "":
			return problem.At(i, problem.New(problem.Invalid, "code", "is missing"))
		}
	}
	for _, door := range doors {
		if err := m.checkDoor(door); err != nil {
			return err
		}
	}
	m.endElsewhere(doors)
	return nil
}

// endElsewhere ends those of mine whose door goes: they would open it again when
// it comes back.
func (m *managing) endElsewhere(doors []Door) {
	for space, all := range m.next {
		if slices.ContainsFunc(doors, func(d Door) bool { return d.spaceID() == space }) {
			continue
		}
		for _, one := range all.all {
			if m.mine[one.key()] {
				m.next[space] = m.next[space].with(one, nil)
				m.changes = append(m.changes, change{old: one})
			}
		}
	}
}

// checkDoor checks the codes of one door.
func (m *managing) checkDoor(door Door) error {
	all := m.codes.of(door.spaceID())
	gone := map[string]*storedCode{} // that were mine, by key
	for _, one := range all.all {
		if m.mine[one.key()] {
			gone[one.key()] = one
		}
	}
	was := all
	for i, w := range m.want {
		if w.SpaceID != door.spaceID() {
			continue
		}
		c, err := m.set(door, all, w)
		if err != nil {
			return problem.At(i, err)
		}
		if c.old != nil {
			delete(gone, c.old.key())
		}
		all = all.with(c.old, c.one)
		m.ids = append(m.ids, c.one.key())
		m.changes = append(m.changes, c)
	}
	for _, old := range gone {
		all = all.with(old, nil)
		m.changes = append(m.changes, change{door, old, nil})
	}
	if all == was {
		return nil
	}
	if err := all.fits(); err != nil {
		return problem.New(problem.Invalid, "", "of %s: %s", door.Space, problem.As(err).Message)
	}
	m.next[door.spaceID()] = all
	return nil
}

// set is the change that one code makes.
func (m *managing) set(door Door, all *codes, w CodeSpec) (c change, err error) {
	r := Request{Name: w.Name, Code: w.Code, From: w.From, Until: w.Until, BookingID: w.BookingID}
	if err := m.codes.check(door, &r); err != nil {
		return c, err
	}
	old, _ := all.replaced(r)
	if old != nil && !m.mine[old.key()] {
		return c, problem.New(problem.Conflict, "name", "was made in the building: delete it there, or choose another")
	}
	one, _, err := m.codes.newCode(door, all, old, r)
	if err != nil {
		return c, err
	}
	one.Of = "" // the same message may give the space to another one
	return change{door, old, one}, nil
}
