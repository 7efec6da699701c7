// Package doubt remembers which devices an unsigned word of the cloud has moved, also over a restart. Where only signed
// commands open doors, no rule opens one by what such a device does or is.
package doubt

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"roomgate/agent/device"
	"roomgate/store"
)

// Options are what marks are opened with.
type Options struct {
	DB *store.DB
	// Unsure says whether the run before this one had commands that its disk did not take.
	Unsure func() bool
	// Schedule says whether an unsigned word is in the schedule that a meeting space follows.
	Schedule func(spaceID string) bool
	// Devices are those of the building.
	Devices func() []*device.Device
}

// Marks say which parts of devices are in doubt. A mark ends by a command that is signed or of the building, that no doubt has
// led to, and that the device has carried out; or by somebody at the device. Until then what the device does and is may be
// the doing of an unsigned word.
type Marks struct {
	o     Options
	stale atomic.Bool // what is stored of them

	mu   sync.Mutex
	all  map[Part]*marked // by device
	lost bool             // there were more than maxMarks, or nobody knows yet which there were
}

// Open reads the marks of the run before this one.
func Open(_ context.Context, o Options) (*Marks, error) {
	m := newMarks(o)
	err := o.DB.View(func(tx *store.Tx) error { m.load(tx); return nil })
	return m, err
}

func newMarks(o Options) *Marks { return &Marks{o: o, all: map[Part]*marked{}} }

// Part is a part of a device, and without Sub the device itself.
type Part struct{ Space, Device, Sub string }

// PartOf is what a command is for.
func PartOf(c device.Command) Part { return Part{c.Space, c.DeviceType, c.SubDevice} }

// device is the device of a part.
func (p Part) device() Part { return Part{Space: p.Space, Device: p.Device} }

// key is where the store has the mark of a part.
func (p Part) key() string { return p.Space + "/" + p.Device + "/" + p.Sub }

// partAt is the part of a key; false: it is the key of no part.
func partAt(key string) (p Part, ok bool) {
	rest, sub, _ := cutLast(key)
	space, name, ok := cutLast(rest)
	return Part{space, name, sub}, ok
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// underWay says whether a command for a part was accepted and has no outcome yet.
func (p Part) underWay(tx *store.Tx) bool {
	return device.UnderWay(tx, device.Command{Space: p.Space, DeviceType: p.Device, SubDevice: p.Sub})
}

// Starting hears of a command that a device is about to carry out. It marks the device after one that nobody has signed,
// and after one of a rule or of the schedule that such a word has led to.
func (m *Marks) Starting(c device.Command) {
	if m.suspects(c) {
		m.put(PartOf(c), wholly(c), time.Now())
	} else {
		m.stir(PartOf(c), time.Now())
	}
}

// Done hears of one that a device has carried out, and when that began. The schedule only keeps what is there: what
// it ends may have begun by a word that is gone.
func (m *Marks) Done(c device.Command, began time.Time) {
	if c.Via != device.ViaSchedule && !m.suspects(c) {
		m.clear(PartOf(c), began)
	}
}

// suspects says whether an unsigned word may have led to a command.
func (m *Marks) suspects(c device.Command) bool {
	switch c.Via {
	case device.ViaMQTT:
		return c.Count == nil || c.Doubted
	case device.ViaSchedule:
		return m.o.Schedule(c.Space)
	}
	return c.Doubted
}

// wholly says whether a command puts all of its device in doubt: the schedule is known to move the part alone.
func wholly(c device.Command) bool { return c.Via != device.ViaSchedule }

// unsigned is in a chain of rules, beside their ids, where an unsigned word of the cloud began it, or a calendar by plain http.
const unsigned = "unsigned"

// IsWord says whether a link of a chain is such a word, and no rule.
func IsWord(link string) bool { return link == unsigned }

// Began says whether such a word began a chain.
func Began(chain []string) bool { return slices.Contains(chain, unsigned) }

// Chain is a chain that such a word began, which goes on by rules.
func Chain(rules ...string) []string {
	if Began(rules) {
		return rules
	}
	return append([]string{unsigned}, rules...)
}
