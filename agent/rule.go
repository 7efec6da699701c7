package agent

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/loop"
	rules "roomgate/agent/rule"
	"roomgate/agent/schedule"
	"roomgate/drivers"
	"roomgate/store"
)

// maxRules is how many rules a building has.
const maxRules = 1000

// eventRuleSuspended tells that the building has stopped a rule by itself.
const eventRuleSuspended = "ruleSuspended"

// ruleEvents are the events that rules can be triggered by, beside what rules
// raise.
var ruleEvents = []string{"statusChanged", "occupancyChanged", "deviceOnline", "deviceOffline", "temperatureAlert", "temperatureNormal",
	"commandCompleted", drivers.EventDoorForced, drivers.EventDoorHeldOpen, drivers.EventDoorShut, drivers.EventFanStalled,
	drivers.EventCodeEntered, "codeAccepted", "codeRefused", "codeLockout", "codeLockoutLifted",
	schedule.Created, schedule.Updated, schedule.Started, schedule.Ended, schedule.Cancelled, schedule.CheckedIn, schedule.Released, schedule.Displaced,
	eventRuleSuspended}

// ruleBook is the rules of the building and how far they were asked.
type ruleBook struct {
	set     atomic.Pointer[ruleSet]
	changed loop.Signal // holds a token when the rules have changed

	// turn holds a token while somebody changes rules or asks them, and guards
	// how far that went.
	turn          loop.Turn
	cursor, saved uint64    // of the log; what the store says of it
	clock         time.Time // triggers by time were taken up to here; zero: never
	clockSaved    time.Time // the same, as the store has it
	jobs          []job     // stored, with orders that were not given yet

	// mu guards what follows. It is never held across a write.
	mu      sync.Mutex
	unsaved map[string]rules.Run // entries of logs that the store has older, by key
	closed  map[string]bool      // keys of runs that are over, and open in the store
	touched map[touchKey]touch

	orders sync.WaitGroup // that are waited for
}

// ruleSet is the rules and who is triggered by what. It is replaced whole.
type ruleSet struct {
	byID    map[string]*heldRule
	byEvent map[string][]*heldRule
	byTime  []*heldRule
	byPlan  []*heldRule // before or after a moment of a booking
}

// heldRule is a rule ready to be asked.
type heldRule struct {
	rules.Rule
	condition *rules.Condition
	times     rules.Times
	past      *rulePast // the same for all versions of a rule
}

// rulePast is what is known of a rule's runs. The book's mu guards it.
type rulePast struct {
	log   *rules.Log             // nil: not read yet
	rates map[string]*rules.Rate // by meeting space
}

func newRuleBook() *ruleBook {
	return &ruleBook{changed: loop.NewSignal(), turn: loop.NewTurn(), unsaved: map[string]rules.Run{},
		closed: map[string]bool{}, touched: map[touchKey]touch{}}
}

// holdRule compiles a rule.
func holdRule(r rules.Rule, past *rulePast) (*heldRule, error) {
	h := &heldRule{Rule: r, past: past}
	var err error
	if h.condition, err = rules.Compile(r.Condition); err != nil {
		return nil, err
	}
	if r.Trigger.Time != "" {
		h.times, err = rules.ParseTime(r.Trigger.Time)
	}
	return h, err
}

// show lets a set of rules take effect.
func (b *ruleBook) show(byID map[string]*heldRule) {
	s := &ruleSet{byID: byID, byEvent: map[string][]*heldRule{}}
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
	b.set.Store(s)
	b.changed.Wake()
}

// Rules returns every rule, the oldest first.
func (a *Agent) Rules() []rules.Rule {
	byID := a.rules.set.Load().byID
	out := make([]rules.Rule, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		out = append(out, byID[id].Rule)
	}
	return out
}

// Rule returns one rule.
func (a *Agent) Rule(id string) (rules.Rule, error) {
	h, err := a.heldRule(id)
	if err != nil {
		return rules.Rule{}, err
	}
	return h.Rule, nil
}

func (a *Agent) heldRule(id string) (*heldRule, error) {
	if h := a.rules.set.Load().byID[id]; h != nil {
		return h, nil
	}
	return nil, refuse(NotFound, "id", "is not a rule of this gateway")
}

// CreateRule checks and stores a rule. What has happened before does not
// trigger it.
func (a *Agent) CreateRule(ctx context.Context, r rules.Rule) (rules.Rule, error) {
	r.ID, r.Suspended = strings.ToLower(ulid.Make().String()), nil
	r.CreatedAt = a.Now().UTC().Truncate(time.Millisecond)
	return a.writeRule(ctx, r, func(set *ruleSet) error {
		if len(set.byID) >= maxRules {
			return refuse(Full, "", "the gateway has %d rules, the most that it keeps: delete one that is not used", maxRules)
		}
		return nil
	})
}

// ChangeRule stores what edit makes of a rule. One that was suspended is heeded
// again once it is enabled anew, also if it was not disabled.
func (a *Agent) ChangeRule(ctx context.Context, id string, edit func(*rules.Rule) (revive bool, err error)) (rules.Rule, error) {
	if err := a.rules.turn.Lock(ctx); err != nil {
		return rules.Rule{}, err
	}
	defer a.rules.turn.Unlock()
	h, err := a.heldRule(id)
	if err != nil {
		return rules.Rule{}, err
	}
	r := h.Rule
	r.Actions = slices.Clone(r.Actions)
	revive, err := edit(&r)
	if err != nil {
		return rules.Rule{}, err
	}
	if revive && r.Enabled {
		r.Suspended = nil
		h.past = a.rules.forgive(h.past)
	}
	return a.storeRule(ctx, r, h.past)
}

// forgive is the past of a rule without what it was held back for.
func (b *ruleBook) forgive(p *rulePast) *rulePast {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.rates = nil
	clear(b.touched)
	return p
}

func (a *Agent) writeRule(ctx context.Context, r rules.Rule, check func(*ruleSet) error) (rules.Rule, error) {
	if err := a.rules.turn.Lock(ctx); err != nil {
		return rules.Rule{}, err
	}
	defer a.rules.turn.Unlock()
	if err := check(a.rules.set.Load()); err != nil {
		return rules.Rule{}, err
	}
	return a.storeRule(ctx, r, &rulePast{log: rules.NewLog(nil)})
}

// storeRule checks a rule, stores it, and then lets it take effect. The rules
// as they were are asked first for what has happened until now. The caller
// has the turn.
func (a *Agent) storeRule(ctx context.Context, r rules.Rule, past *rulePast) (rules.Rule, error) {
	r.UpdatedAt = a.Now().UTC().Truncate(time.Millisecond)
	if err := a.checkRule(a.site.Load(), &r); err != nil {
		return rules.Rule{}, err
	}
	h, err := holdRule(r, past)
	if err != nil {
		return rules.Rule{}, err
	}
	if err := a.askRules(ctx); err != nil {
		return rules.Rule{}, err
	}
	b := a.rules
	if b.clock.IsZero() && a.clock.Trust() == Trusted {
		b.clock = r.UpdatedAt
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(ruleRows.Put(tx, r.ID, r), b.saveCursors(tx, b.cursor, b.clock))
	})
	if err != nil {
		return rules.Rule{}, err
	}
	b.saved, b.clockSaved = b.cursor, b.clock
	byID := maps.Clone(b.set.Load().byID)
	byID[r.ID] = h
	b.show(byID)
	return r, nil
}

// DeleteRule ends a rule with its log. Orders that it has given are carried
// out.
func (a *Agent) DeleteRule(ctx context.Context, id string) error {
	b := a.rules
	if err := b.turn.Lock(ctx); err != nil {
		return err
	}
	defer b.turn.Unlock()
	if _, err := a.heldRule(id); err != nil {
		return err
	}
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		return deleteRule(tx, id)
	})
	if err != nil {
		return err
	}
	byID := maps.Clone(b.set.Load().byID)
	delete(byID, id)
	b.show(byID)
	b.forget(id)
	return nil
}

// deleteRule deletes a rule with its log.
func deleteRule(tx *store.Tx, id string) error {
	for slot := range rules.KeepRuns {
		if err := errors.Join(ruleRuns.Delete(tx, runKey(id, slot)), openRuns.Delete(tx, runKey(id, slot))); err != nil {
			return err
		}
	}
	return ruleRows.Delete(tx, id)
}

// forget drops what was still to be written of a rule.
func (b *ruleBook) forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	mine := func(key string) bool { return strings.HasPrefix(key, id+"/") }
	maps.DeleteFunc(b.unsaved, func(key string, _ rules.Run) bool { return mine(key) })
	maps.DeleteFunc(b.closed, func(key string, _ bool) bool { return mine(key) })
}

// checkRule refuses what the rule cannot mean in this building.
func (a *Agent) checkRule(t *site, r *rules.Rule) error {
	if err := r.Check(ruleEvents); err != nil {
		return err
	}
	if _, err := t.space(r.SpaceID); r.SpaceID != "" && err != nil {
		return err
	}
	on := &r.Trigger
	on.SubDevice = drivers.Canonical(on.SubDevice)
	if on.DeviceType != "" && !slices.Contains(drivers.Types(), on.DeviceType) {
		return refuse(Invalid, "trigger.device_type", "is not known: want one of %s", listed(drivers.Types()))
	}
	if on.SubDevice != "" && !slices.Contains(drivers.SubDevices(drivers.TypeO3), on.SubDevice) {
		return refuse(Invalid, "trigger.sub_device", "is not known: want one of %s", listed(drivers.SubDevices(drivers.TypeO3)))
	}
	for i := range r.Actions {
		if err := a.checkAction(t, r, i); err != nil {
			return err
		}
	}
	return nil
}

// checkAction refuses an order that no device of the rule's spaces takes. One
// to a device that was not opened yet is believed.
func (a *Agent) checkAction(t *site, r *rules.Rule, i int) error {
	act := &r.Actions[i]
	act.SubDevice = drivers.Canonical(act.SubDevice)
	if opensDoor(*act) && !r.AllowDoor {
		return refuse(Invalid, "allow_door", "is not set and actions[%d] opens a door: set it to true if that is meant", i)
	}
	where := cmp.Or(act.SpaceID, r.SpaceID)
	spaces := t.order
	if where != "" {
		s, err := t.space(where)
		if err != nil {
			return inAction(i, err)
		}
		spaces = []*space{s}
	}
	switch {
	case act.Event != "":
		return nil
	case !act.To.Nobody():
		m := messageOf(*r, *act, "")
		return inAction(i, m.Check())
	}
	var refusal error
	for _, s := range spaces {
		_, err := a.parseAction(*act, s)
		if err == nil {
			return nil
		}
		refusal = cmp.Or(refusal, err)
	}
	return inAction(i, refusal)
}

// inAction names the action in a refusal.
func inAction(i int, err error) error {
	if err == nil {
		return nil
	}
	e := *AsError(err)
	e.Code = Invalid
	e.Field = strings.TrimSuffix("actions["+string(rune('0'+i))+"]."+e.Field, ".")
	return &e
}
