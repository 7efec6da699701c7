package engine

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"roomgate/agent/device"
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

// marks remember which devices an unsigned word of the cloud has moved, or what it has led to, see byCloud. A mark ends by a
// command that is signed or of the building, that no doubt has led to, and that the device has carried out; or by
// somebody at the device. Until then what the device does and is may be the doing of that word.
type marks struct {
	stale atomic.Bool // what is stored of them

	mu   sync.Mutex
	all  map[deviceKey]*marked
	lost bool // there were more than maxMarks, or nobody knows yet which there were
}

// deviceKey is a device with all that it has.
type deviceKey struct{ space, device string }

// marked is a device of which something was moved.
type marked struct {
	told time.Time // when the last command began that puts all of it in doubt; zero: none
	subs map[string]mark
}

// mark is that of a sub-device; empty: of the device itself.
type mark struct {
	moved   time.Time // its last command, or the last change after that
	changes int       // since that command
	over    time.Time // it is only about what was seen before; zero: about all
}

func newMarks() *marks { return &marks{all: map[deviceKey]*marked{}} }

// put marks what a command is about to move; whole: with all of its device.
func (l *marks) put(c device.Command, whole bool, now time.Time) {
	key := deviceKey{c.Space, c.DeviceType}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all[key] == nil && len(l.all) >= maxMarks {
		maps.DeleteFunc(l.all, func(_ deviceKey, d *marked) bool { return d.past(now) })
	}
	d := l.all[key]
	switch {
	case d == nil && len(l.all) >= maxMarks:
		l.lost = true
		l.stale.Store(true)
		return
	case d == nil:
		d = &marked{subs: map[string]mark{}}
		l.all[key] = d
	}
	if whole {
		d.told = now
	}
	d.subs[c.SubDevice] = mark{moved: asLogged(now)}
}

// past says whether no rule is asked any more about what a device did while it was marked.
func (d *marked) past(now time.Time) bool {
	for _, m := range d.subs {
		if m.over.IsZero() || now.Sub(m.over) < 2*lateLimit {
			return false
		}
	}
	return now.Sub(d.told) > 2*lateLimit
}

// stir notes a command that is not in doubt itself: what the device does next may be its doing.
func (l *marks) stir(c device.Command, now time.Time) {
	l.change(c, func(m *mark) { m.moved, m.changes = asLogged(now), 0 })
}

// clear ends the mark of what was moved by a command that began then.
func (l *marks) clear(c device.Command, began time.Time) {
	l.change(c, func(m *mark) { m.over = asLogged(began) })
}

// changed notes that what is marked has changed.
func (l *marks) changed(space, deviceType, sub string, at time.Time) {
	l.change(device.Command{Space: space, DeviceType: deviceType, SubDevice: sub}, func(m *mark) {
		if at.Before(m.moved) {
			return
		}
		if m.changes == 0 || at.Sub(m.moved) > settleTime {
			m.changes++
		}
		m.moved = at
		if m.changes >= strangeChanges {
			m.over = at
		}
	})
}

// change edits a mark that is not over.
func (l *marks) change(c device.Command, edit func(*mark)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.all[deviceKey{c.Space, c.DeviceType}]
	if d == nil {
		return
	}
	if m, ok := d.subs[c.SubDevice]; ok && m.over.IsZero() {
		edit(&m)
		if !m.over.IsZero() {
			l.stale.Store(true)
		}
		d.subs[c.SubDevice] = m
	}
}

// moved says whether what a device was then may be the doing of an unsigned word.
func (l *marks) moved(space, deviceType, sub string, at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, doubted := l.judge(space, deviceType, sub, at)
	return doubted
}

// caused says whether what a device did then may be: also what another part of it does soon after such a word.
func (l *marks) caused(space, deviceType, sub string, at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, doubted := l.judge(space, deviceType, sub, at)
	if known {
		return doubted
	}
	d := l.all[deviceKey{space, deviceType}]
	return d != nil && (at.Sub(d.told) < wholeTime || time.Since(d.told) < wholeTime)
}

func (l *marks) judge(space, deviceType, sub string, at time.Time) (known, doubted bool) {
	if l.lost {
		return true, true
	}
	d := l.all[deviceKey{space, deviceType}]
	if d == nil {
		return false, false
	}
	m, known := d.subs[sub]
	return known, known && (m.over.IsZero() || at.Before(m.over))
}

// full says whether nothing is known of marks any more.
func (l *marks) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// live says whether what a part of a device does next may be the doing of an unsigned word.
func (l *marks) live(c device.Command) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := l.all[deviceKey{c.Space, c.DeviceType}]; d != nil && !l.lost {
		m, ok := d.subs[c.SubDevice]
		return ok && m.over.IsZero()
	}
	return l.lost
}

// rows are the marks that are not over, by their keys, and whether they put all of the device in doubt. whole says that these are all.
func (l *marks) rows() (rows map[string]bool, whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows = map[string]bool{}
	for key, d := range l.all {
		for sub, m := range d.subs {
			if m.over.IsZero() {
				rows[markKey(device.Command{Space: key.space, DeviceType: key.device, SubDevice: sub})] = !d.told.IsZero()
			}
		}
	}
	return rows, !l.lost
}

// found ends that nobody knows which marks there were, and says whether that was so.
func (l *marks) found() (lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost, l.lost = l.lost, false
	return lost
}

// asLogged is a time as the log has it, which cuts it.
func asLogged(t time.Time) time.Time { return t.Truncate(time.Millisecond) }
