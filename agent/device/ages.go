package device

import (
	"errors"
	"strings"

	"roomgate/agent/clock"
	"roomgate/agent/device/refusal"
	"roomgate/agent/problem"
	"roomgate/store"
)

const (
	// commandMemory is how long the id of a command is remembered at the least:
	// longer than any command can live, with farAhead.
	commandMemory = LongestLife + 2*farAhead
	// forgetAtOnce is how many ids are forgotten in one transaction.
	forgetAtOnce = 100
	// maxCommands is how many ids of each origin are remembered.
	maxCommands = 20_000
)

// origin is who chose the id of a command, and so whether it can come again.
type origin int

const (
	fromUs     origin = iota // the building: the id is new, and nobody else has it
	fromCaller               // somebody in the building, to give the command once
	fromCloud
)

// An id of these could be told before its command is given: that of a rule follows from the rule and its trigger, so that
// a restart does not give it twice. Who else takes it first would keep the building from its own command.
const (
	OfRules   = "rule-" // begins the id of each command of a rule
	OfCallers = "http-" // and of who names his commands over HTTP
)

// reserved says whether an id of the cloud would be one of the building's own, whose ids begin as no other does.
func reserved(c Command) bool {
	return c.Via == ViaMQTT && (strings.HasPrefix(c.ID, OfRules) || strings.HasPrefix(c.ID, OfCallers))
}

// errReserved refuses such an id, which is never remembered as the cloud's.
func errReserved() *problem.Error {
	return problem.New(problem.Invalid, "id", "begins with %s or %s, as those of the building's own commands do: choose another", OfRules, OfCallers)
}

// originOf is told before a command without an id gets one.
func originOf(c Command) origin {
	switch {
	case c.ID == "", c.Via == ViaRule:
		return fromUs
	case c.Via == ViaMQTT:
		return fromCloud
	}
	return fromCaller
}

// now is never 0, which is what an earlier version has stored.
func (cs *Commands) now() clock.Lived { return cs.o.Clock.Lived() + 1 }

// remember writes a command whose id is new. If there is no room for it, nothing is written, and the error is Busy.
func (cs *Commands) remember(tx *store.Tx, from origin, c Command, r Receipt) error {
	if err := cs.evict(tx, from); err != nil {
		return err
	}
	row := recent{Stored: Stored{c, r, cs.now()}, From: from}
	if r.State.Final() {
		return putOver(tx, &cs.refused, row)
	}
	return underWay.Put(tx, c.ID, row)
}

// evict forgets what is old enough, once there are too many, and then some more: the pages that this changes would else be written for each command.
func (cs *Commands) evict(tx *store.Tx, from origin) error {
	ids := commandAges[from]
	over := ids.Len(tx) - maxCommands + 1
	if over+recents.Len(tx)+underWay.Len(tx) <= 0 {
		return nil
	}
	if over += countRecent(tx, from); over <= 0 {
		return nil
	}
	for i := range forgetAtOnce {
		oldest, err := ids.After(tx, 0, 1) // one by one: usually the first is young and the last that is read
		if err != nil {
			return err
		}
		if len(oldest) == 0 && over <= i {
			return nil
		}
		if len(oldest) == 0 { // those that are in the way have no age yet
			return noRoom()
		}
		id := oldest[0]
		s, err := commands.Get(tx, id.Value)
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrDamaged) {
			return err
		}
		young := err == nil && from != fromUs && cs.now().Since(s.Lived) < commandMemory
		switch {
		case young && i > 0:
			return nil
		case young && s.Lived == 0 && over <= maxCommands:
			return nil // an earlier version forgot by count: as many have room beside its own
		case young:
			return noRoom()
		}
		if err := commands.Delete(tx, id.Value); err != nil {
			return err
		}
		if _, err := ids.Trim(tx, id.Seq); err != nil {
			return err
		}
	}
	return nil
}

func noRoom() error {
	return problem.New(problem.Busy, "", "the gateway remembers %d command ids of the last %s and has no room for more: try again later", maxCommands, inUnits(commandMemory))
}

// Repaired notes that a repair of the database may have lost commands: what was sent before it is refused, as it may have been carried out.
func (cs *Commands) Repaired(r store.Repair) {
	if doubtful(r) {
		cs.forgotten = r.At
	}
}

// doubtful says that a repair may have lost commands.
func doubtful(r store.Repair) bool {
	return r.Doubtful(commands.Bucket()) || r.Doubtful(recents.Bucket()) || r.Doubtful(underWay.Bucket()) ||
		r.Doubtful(refusal.Buckets()[0])
}

// Mend does what a repair of the database leaves to do before anything is loaded: each command is forgotten some day.
func Mend(tx *store.Tx, r store.Repair) error {
	if err := settleOver(tx); err != nil {
		return err
	}
	unsure, aged := doubtful(r), map[string]bool{}
	for _, ids := range commandAges {
		unsure = unsure || r.Doubtful(ids.Bucket())
		if err := readAges(tx, ids, aged); err != nil {
			return err
		}
	}
	if !unsure {
		return nil
	}
	var missing []string
	for id := range commands.All(tx) {
		if !aged[id] {
			missing = append(missing, id)
		}
	}
	for _, id := range missing {
		_, err := commandAges[fromCloud].Push(tx, id) // whose ids are kept longest
		if errors.Is(err, store.ErrQueueFull) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readAges notes the ids that have an age.
func readAges(tx *store.Tx, ids store.Queue[string], aged map[string]bool) error {
	for after := uint64(0); ; {
		page, err := ids.After(tx, after, 1000)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, item := range page {
			aged[item.Value], after = true, item.Seq
		}
	}
}
