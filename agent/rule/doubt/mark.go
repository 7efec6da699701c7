package doubt

import (
	"maps"
	"time"

	"roomgate/agent/rule"
)

const (
	// maxMarks is how many devices can be marked. Beyond that everything counts as doubted, and a restart marks what there is.
	maxMarks = 5000
	// settleTime is how long after a command or a change what a device does next may be of the same cause.
	settleTime = 30 * time.Second
	// wholeTime is how long after the beginning of a command all of its device is doubted: the longest
	// time that a command may take, see config, and settleTime after that.
	wholeTime = time.Minute + 2*settleTime
	// strangeChanges is the change since the last command, counted by settleTime, that somebody at the device has made. The
	// first one may be the late effect of the command, the second one the end of it by a timer of the device.
	strangeChanges = 3
)

// marked is a device of which something was moved.
type marked struct {
	wholeSince time.Time // when the last command began that puts all of it in doubt; zero: none
	subs       map[string]mark
}

// mark is that of a sub-device; empty: of the device itself.
type mark struct {
	moved   time.Time // its last command, or the last change after that
	changes int       // since that command
	over    time.Time // it is only about what was seen before; zero: about all
}

// put marks what a command is about to move; whole: with all of its device.
func (m *Marks) put(p Part, whole bool, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all[p.device()] == nil && len(m.all) >= maxMarks {
		maps.DeleteFunc(m.all, func(_ Part, d *marked) bool { return d.past(now) })
	}
	d := m.all[p.device()]
	switch {
	case d == nil && len(m.all) >= maxMarks:
		m.lost = true
		m.stale.Store(true)
		return
	case d == nil:
		d = &marked{subs: map[string]mark{}}
		m.all[p.device()] = d
	}
	if whole {
		d.wholeSince = now
	}
	d.subs[p.Sub] = mark{moved: asLogged(now)}
}

// past says whether no rule is asked any more about what a device did while it was marked.
func (d *marked) past(now time.Time) bool {
	for _, one := range d.subs {
		if one.over.IsZero() || now.Sub(one.over) < 2*rule.LateLimit {
			return false
		}
	}
	return now.Sub(d.wholeSince) > 2*rule.LateLimit
}

// stir notes a command that is not in doubt itself: what the device does next may be its doing.
func (m *Marks) stir(p Part, now time.Time) {
	m.change(p, func(one *mark) { one.moved, one.changes = asLogged(now), 0 })
}

// clear ends the mark of what was moved by a command that began then.
func (m *Marks) clear(p Part, began time.Time) {
	m.change(p, func(one *mark) { one.over = asLogged(began) })
}

// Changed notes that a part has changed.
func (m *Marks) Changed(p Part, at time.Time) {
	m.change(p, func(one *mark) {
		if at.Before(one.moved) {
			return
		}
		if one.changes == 0 || at.Sub(one.moved) > settleTime {
			one.changes++
		}
		one.moved = at
		if one.changes >= strangeChanges {
			one.over = at
		}
	})
}

// change edits a mark that is not over.
func (m *Marks) change(p Part, edit func(*mark)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.all[p.device()]
	if d == nil {
		return
	}
	if one, ok := d.subs[p.Sub]; ok && one.over.IsZero() {
		edit(&one)
		if !one.over.IsZero() {
			m.stale.Store(true)
		}
		d.subs[p.Sub] = one
	}
}

// Moved says whether what a part was then may be the doing of an unsigned word.
func (m *Marks) Moved(p Part, at time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, doubted := m.judge(p, at)
	return doubted
}

// Caused says whether what a part did then may be: also what another part of its device does soon after such a word.
func (m *Marks) Caused(p Part, at time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, doubted := m.judge(p, at)
	if known {
		return doubted
	}
	d := m.all[p.device()]
	return d != nil && (at.Sub(d.wholeSince) < wholeTime || time.Since(d.wholeSince) < wholeTime)
}

func (m *Marks) judge(p Part, at time.Time) (known, doubted bool) {
	if m.lost {
		return true, true
	}
	d := m.all[p.device()]
	if d == nil {
		return false, false
	}
	one, known := d.subs[p.Sub]
	return known, known && (one.over.IsZero() || at.Before(one.over))
}

// Lost says whether nobody knows which parts are marked.
func (m *Marks) Lost() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost
}

// live says whether what a part does next may be the doing of an unsigned word.
func (m *Marks) live(p Part) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := m.all[p.device()]; d != nil && !m.lost {
		one, ok := d.subs[p.Sub]
		return ok && one.over.IsZero()
	}
	return m.lost
}

// open are the parts with a mark that is not over, and whether it puts all of the device in doubt. complete says that these are all.
func (m *Marks) open() (parts map[Part]bool, complete bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	parts = map[Part]bool{}
	for p, d := range m.all {
		for sub, one := range d.subs {
			if one.over.IsZero() {
				p.Sub = sub
				parts[p] = !d.wholeSince.IsZero()
			}
		}
	}
	return parts, !m.lost
}

// found ends that nobody knows which marks there were, and says whether that was so.
func (m *Marks) found() (lost bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	lost, m.lost = m.lost, false
	return lost
}

// asLogged is a time as the log has it, which cuts it.
func asLogged(t time.Time) time.Time { return t.Truncate(time.Millisecond) }
