// Package engine asks the rules of the building what is to be done about each
// event of the log and about the time, and does it. Package rule says what a rule
// may say. It is the widest noun, as a rule is about the whole building:
// its devices, its bookings, and the messages to people.
package engine

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"roomgate/agent/auth"
	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/message/book"
	"roomgate/agent/problem"
	"roomgate/agent/rule"
	"roomgate/agent/rule/doubt"
	"roomgate/agent/schedule"
	"roomgate/drivers"
	"roomgate/store"
)

const (
	// maxRules is how many rules a building has.
	maxRules = 1000
	// maxRulesOfOrg is how many are made here for the spaces of one organization, so that
	// one tenant does not take the places of the others.
	maxRulesOfOrg = 250
)

// events are those that rules can be triggered by, beside what rules raise.
var events = []string{device.EventStatusChanged, device.EventOccupancyChanged, device.EventOnline, device.EventOffline,
	device.EventTemperatureAlert, device.EventTemperatureNormal, device.EventCommandCompleted,
	drivers.EventDoorForced, drivers.EventDoorHeldOpen, drivers.EventDoorShut, drivers.EventFanStalled, drivers.EventCodeEntered,
	"codeAccepted", "codeRefused", "codeLockout", "codeLockoutLifted",
	schedule.Created, schedule.Updated, schedule.Started, schedule.Ended, schedule.Cancelled, schedule.CheckedIn, schedule.Released, schedule.Displaced,
	eventSuspended}

// Options are what an engine is opened with.
type Options struct {
	DB       *store.DB
	Events   *eventlog.Log
	Keys     *auth.Keys // seal the topics at the push gateway
	Clock    *clock.Clock
	Log      *slog.Logger
	Commands *device.Commands
	Messages *book.Messages
	Marks    *doubt.Marks // which devices an unsigned word of the cloud has moved

	// Site is the building as it is now.
	Site func() *Site
	// Owner is the organization of a meeting space, empty: nobody's.
	Owner func(spaceID string) (organizationID string, err error)
	// Booking finds a booking of the building.
	Booking func(id string) (booking.Booking, error)
	// UnsignedAllowed says whether a word of the cloud that is not signed may open a door.
	UnsignedAllowed func() bool
	// Doubted says whether a rule of the cloud came without a signature.
	Doubted func(ruleID string) bool
	// Ready is nil once every device was observed. Until then rules wait, but no
	// longer than startLimit.
	Ready func() error
}

// Engine has the rules of the building, and knows how far they were asked. It
// may be used by many.
type Engine struct {
	o       Options
	set     atomic.Pointer[ruleSet]
	changed loop.Signal // holds a token when the rules have changed

	// turn holds a token while somebody changes rules or asks them, and guards
	// how far that went.
	turn         loop.Turn
	asked, saved position // what the rules were asked; what the store has of it
	jobs         []job    // stored, with commands that were not given yet

	// mu guards what follows. It is never held across a write.
	mu      sync.Mutex
	unsaved map[string]rule.Run // entries of logs that the store has older, by key
	closed  map[string]bool     // keys of runs that are over, and open in the store

	traces   traces
	commands sync.WaitGroup // that are waited for
}

// ruleSet is the rules and who is triggered by what. It is replaced as a whole.
type ruleSet struct {
	byID    map[string]*compiled
	byEvent map[string][]*compiled
	byTime  []*compiled
	byPlan  []*compiled // before or after a moment of a booking
}

// timed says whether any rule goes by the time.
func (s *ruleSet) timed() bool { return len(s.byTime)+len(s.byPlan) > 0 }

// compiled is a rule ready to be asked.
type compiled struct {
	rule.Rule
	condition *rule.Condition
	times     rule.Times
	past      *history // the same for all versions of a rule
}

// history is what is known of a rule's runs. The engine's mu guards it.
type history struct {
	log   *rule.Log             // nil: not read yet
	rates map[string]*rule.Rate // by meeting space
}

// Open reads the rules, and how far they were asked. It asks none; that is
// Run's.
func Open(ctx context.Context, o Options) (*Engine, error) {
	e := &Engine{o: o, changed: loop.NewSignal(), turn: loop.NewTurn(), unsaved: map[string]rule.Run{},
		closed: map[string]bool{}, traces: traces{left: map[doubt.Part]trace{}}}
	var plain []rule.Rule
	err := o.DB.View(func(tx *store.Tx) (err error) {
		plain, err = e.load(tx)
		return err
	})
	if err != nil {
		return e, err
	}
	return e, o.sealPlain(ctx, plain)
}

// compile makes a rule ready to be asked.
func compile(r rule.Rule, past *history) (*compiled, error) {
	h := &compiled{Rule: r, past: past}
	var err error
	if h.condition, err = rule.Compile(r.Condition); err != nil {
		return nil, err
	}
	if r.Trigger.Time != "" {
		h.times, err = rule.ParseTime(r.Trigger.Time)
	}
	return h, err
}

// show lets a set of rules take effect.
func (e *Engine) show(byID map[string]*compiled) {
	s := &ruleSet{byID: byID, byEvent: map[string][]*compiled{}}
	for _, id := range slices.Sorted(maps.Keys(byID)) { // they begin with the time
		h := byID[id]
		t := h.Trigger
		switch {
		case !h.Active():
		case t.Time != "":
			s.byTime = append(s.byTime, h)
		case t.Before != 0 || t.After != 0:
			s.byPlan = append(s.byPlan, h)
		default:
			kind := cmp.Or(t.Event, t.Booking)
			s.byEvent[kind] = append(s.byEvent[kind], h)
		}
	}
	e.set.Store(s)
	e.changed.Wake()
}

// List returns every rule, the oldest first.
func (e *Engine) List() []rule.Rule {
	byID := e.set.Load().byID
	out := make([]rule.Rule, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		out = append(out, byID[id].Rule)
	}
	return out
}

// Get returns one rule, or refuses it as problem.NotFound.
func (e *Engine) Get(id string) (rule.Rule, error) {
	h, err := e.find(id)
	if err != nil {
		return rule.Rule{}, err
	}
	return h.Rule, nil
}

func (e *Engine) find(id string) (*compiled, error) {
	if h := e.set.Load().byID[id]; h != nil {
		return h, nil
	}
	return nil, problem.New(problem.NotFound, "id", "is not a rule of this gateway")
}

// forgive forgets what a rule was held back for.
func (e *Engine) forgive(id string, p *history) {
	e.traces.forgive(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	p.rates = nil
}

// forget drops what was still to be written of a rule.
func (e *Engine) forget(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	mine := func(key string) bool { return strings.HasPrefix(key, id+"/") }
	maps.DeleteFunc(e.unsaved, func(key string, _ rule.Run) bool { return mine(key) })
	maps.DeleteFunc(e.closed, func(key string, _ bool) bool { return mine(key) })
}
