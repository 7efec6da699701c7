package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/eventlog"
	"roomgate/cloud"
	"roomgate/store"
)

// maxEvents is how many bookings of one message are told one by one; a first
// snapshot would push everything else out of the log.
const maxEvents = 500

// downSchedule is the data of down/schedule.
type downSchedule struct {
	Space    string            `json:"meeting_space_id"`
	Revision uint64            `json:"revision"`
	Kind     string            `json:"kind"`
	Bookings []booking.Booking `json:"bookings"`
	Removed  []string          `json:"removed"`
}

// The kinds of a schedule message.
const (
	kindSnapshot = "snapshot" // all that is booked from now on
	kindDelta    = "delta"    // what has changed since the revision before
)

// takeSchedule lays what the cloud says over the plan of a space. What it
// cannot apply changes nothing and is answered with the reason.
func (a *Agent) takeSchedule(ctx context.Context, e cloud.Envelope) error {
	d, err := readSchedule(e)
	if err != nil {
		return a.refuseMessage(ctx, e, AsError(err))
	}
	s, err := a.space(d.Space)
	if err != nil {
		return a.refuseMessage(ctx, e, AsError(err))
	}
	if err := s.plan.turn.Lock(ctx); err != nil {
		return err
	}
	defer s.plan.turn.Unlock()
	if err := d.complete(e.Time, s.plan.bookings.Get); err != nil {
		return a.refuseMessage(ctx, e, AsError(err))
	}
	have := s.plan.terms.Load().Revision
	switch {
	case d.Kind == kindDelta && d.Revision <= have:
		return a.scheduleDone(ctx, e, s) // it came twice
	case d.Kind == kindDelta && d.Revision > have+1:
		return a.wantSnapshot(ctx, e, s, d.Revision)
	case d.Revision < have:
		return a.refuseMessage(ctx, e, refuse(Conflict, "revision", "is %d and the space has %d already: send a later one", d.Revision, have))
	}
	err = a.applySchedule(ctx, e, s, d)
	if refusal := new(Error); errors.As(err, &refusal) { // it would not be better the second time
		return a.refuseMessage(ctx, e, refusal)
	}
	return err
}

// readSchedule decodes the data of down/schedule. The error names the field.
func readSchedule(e cloud.Envelope) (d downSchedule, err error) {
	if err = e.DataInto(&d); err == nil {
		return d, nil
	}
	var parts struct {
		Bookings []json.RawMessage `json:"bookings"`
	}
	_ = json.Unmarshal(e.Data, &parts) // what is wrong elsewhere, err says
	for i, part := range parts.Bookings {
		if field, problem := wrongField(part); field != "" {
			return d, refuse(Invalid, fmt.Sprintf("bookings[%d]%s", i, field), "%s", problem)
		}
	}
	refusal := AsError(err)
	if refusal.Field == "data" {
		refusal.Message = "is no schedule: it " + refusal.Message
	}
	return d, refusal
}

// wrongField names, with a dot before it, the member of a booking that is not
// known or cannot be decoded, and what is wrong with it; empty: none.
func wrongField(part json.RawMessage) (field, problem string) {
	const ofAnotherType = "is not of its type, times are like 2026-11-22T09:00:00Z"
	var members map[string]json.RawMessage
	if json.Unmarshal(part, &members) != nil {
		return ".", ofAnotherType
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		one, _ := json.Marshal(map[string]json.RawMessage{name: members[name]})
		if json.Unmarshal(one, new(booking.Booking)) != nil {
			return "." + name, ofAnotherType
		}
		if (cloud.Envelope{Data: one}).DataInto(new(booking.Booking)) != nil {
			return "." + name, "has or is a field that is not known: check its spelling, or leave it out"
		}
	}
	return "", ""
}

// complete checks a schedule and fills in what a cloud need not say: of a
// booking that is known here, what is known.
func (d *downSchedule) complete(at time.Time, have func(id string) (booking.Booking, bool)) error {
	switch {
	case d.Revision == 0:
		return refuse(Invalid, "revision", "is missing: want 1 or more")
	case d.Kind != kindSnapshot && d.Kind != kindDelta:
		return refuse(Invalid, "kind", "is %q: want snapshot or delta", d.Kind)
	case len(d.Bookings) > maxBookings:
		return refuse(Invalid, "bookings", "are %d: at most %d", len(d.Bookings), maxBookings)
	}
	for i := range d.Bookings {
		b := &d.Bookings[i]
		if b.SpaceID == "" {
			b.SpaceID = d.Space
		}
		if b.SpaceID != d.Space {
			return refuse(Invalid, fmt.Sprintf("bookings[%d].meeting_space_id", i), "is another space than the schedule's")
		}
		if err := complete(b, d.Revision, at, have); err != nil {
			p := AsError(err)
			p.Field = fmt.Sprintf("bookings[%d].%s", i, p.Field)
			return p
		}
	}
	return nil
}

// complete fills in what the cloud did not say of one booking. If that is all
// in which it differs from ours, it is ours: the same snapshot again changes
// nothing.
func complete(b *booking.Booking, revision uint64, at time.Time, have func(id string) (booking.Booking, bool)) error {
	if err := checkTimes(b); err != nil {
		return err
	}
	if mine, known := have(b.ID); known {
		recall(b, mine)
		said := *b
		said.CloudRevision = cmp.Or(mine.CloudRevision, b.CloudRevision)
		said.Revision = cmp.Or(b.Revision, mine.Revision)
		said.UpdatedAt = cmp.Or(b.UpdatedAt, mine.UpdatedAt)
		if err := said.Complete(revision, at); err == nil && booking.Same(said, mine) {
			*b = said
			return nil
		}
	}
	if err := b.Complete(revision, at); err != nil {
		return err
	}
	if b.State == booking.CheckedIn && b.CheckedInAt.IsZero() {
		b.CheckedInAt = b.UpdatedAt
	}
	return nil
}

// recall fills in from our record what the cloud need not say again.
func recall(b *booking.Booking, mine booking.Booking) {
	b.Source = cmp.Or(b.Source, mine.Source)
	b.CreatedAt = cmp.Or(b.CreatedAt, mine.CreatedAt)
	if b.State != mine.State {
		return
	}
	for _, t := range []struct{ said, known *time.Time }{{&b.CheckedInAt, &mine.CheckedInAt}, {&b.ReleasedAt, &mine.ReleasedAt},
		{&b.EndedAt, &mine.EndedAt}} {
		*t.said = cmp.Or(*t.said, *t.known)
	}
	if b.End.Equal(mine.End) {
		b.PlannedEnd = cmp.Or(b.PlannedEnd, mine.PlannedEnd)
		b.Reason = cmp.Or(b.Reason, mine.Reason)
	}
}

// checkTimes refuses times that cannot be stored.
func checkTimes(b *booking.Booking) error {
	for _, f := range [...]struct {
		name string
		at   time.Time
	}{{"start_time", b.Start}, {"end_time", b.End}, {"created_at", b.CreatedAt}, {"updated_at", b.UpdatedAt},
		{"checked_in_at", b.CheckedInAt}, {"released_at", b.ReleasedAt}, {"ended_at", b.EndedAt}, {"planned_end_time", b.PlannedEnd}} {
		if !storable(f.at) {
			return refuse(Invalid, f.name, "is out of range: want a year from 1970 to 9999")
		}
	}
	return nil
}

// storable says whether a time can be written as RFC 3339 does.
func storable(t time.Time) bool {
	year := t.UTC().Year()
	return t.IsZero() || year >= 1970 && year <= 9999
}

// applySchedule merges what the cloud says and stores the outcome with the
// revision in one transaction. The caller has the turn.
func (a *Agent) applySchedule(ctx context.Context, e cloud.Envelope, s *space, d downSchedule) error {
	now := a.Now()
	said, err := a.settled(s, d.Bookings)
	if err != nil {
		return err
	}
	said = append(said, s.plan.removed(d, now)...)
	changed, tell := booking.Merge(s.plan.bookings.Get, s.plan.bookings.Live(), said)
	edits := s.plan.edits(changed, s.plan.untold(d.Kind, said, tell))
	ruled(edits, said)
	if d.Kind == kindSnapshot {
		edits = append(edits, s.plan.unheard(said, edits)...)
	}
	kept := s.plan.terms.Load().storedPlan
	kept.Revision = d.Revision
	err = a.commit(ctx, s, edits, func(tx *store.Tx) error {
		if err := plans.Put(tx, s.ID, kept); err != nil {
			return err
		}
		return a.pushReceipt(tx, Command{Via: ViaMQTT, Space: s.ID}, done(e.ID))
	})
	if err != nil {
		return err
	}
	s.plan.keep(kept)
	s.changed()
	a.log.Info("a schedule was applied", "meeting_space", s.Name, "kind", d.Kind, "revision", d.Revision,
		"bookings", len(d.Bookings), "changed", len(changed))
	return nil
}

// settled are the bookings that are this space's: one that lives elsewhere is
// refused by its field, and of one that was moved to another space the old
// record is left out.
func (a *Agent) settled(s *space, said []booking.Booking) ([]booking.Booking, error) {
	mine := make([]booking.Booking, 0, len(said))
	for i, b := range said {
		old, from := a.elsewhere(s, b.ID)
		switch {
		case from != nil && old.Live() && b.Live():
			e := inAnotherSpace(b.ID)
			e.Field = fmt.Sprintf("bookings[%d].id", i)
			return nil, e
		case from == nil || b.Live():
			mine = append(mine, b)
		}
	}
	return mine, nil
}

// unheard are the bookings made here that a snapshot shows the cloud does not
// have: what told of them was lost, or is still on its way.
func (p *plan) unheard(said []booking.Booking, edits []edit) (more []edit) {
	done := map[string]bool{}
	for _, b := range said {
		done[b.ID] = true
	}
	for _, e := range edits {
		done[e.ID] = true
	}
	p.bookings.Walk(func(b *booking.Booking) bool {
		if m := p.marks[b.ID]; (b.CloudRevision == 0 || m.Returned) && !done[b.ID] {
			m.Returned = false
			more = append(more, edit{Booking: *b, marks: m})
		}
		return true
	})
	return more
}

// removed are the bookings that the cloud no longer has, as it says them: the
// ones it names, and of a snapshot those it knew and left out.
func (p *plan) removed(d downSchedule, now time.Time) (said []booking.Booking) {
	gone := map[string]bool{}
	for _, id := range d.Removed {
		gone[id] = true
	}
	if d.Kind == kindSnapshot {
		p.bookings.Walk(func(b *booking.Booking) bool {
			if b.CloudRevision != 0 && b.CloudRevision <= d.Revision && b.End.After(now) && !p.marks[b.ID].Returned {
				gone[b.ID] = true
			}
			return true
		})
		for _, b := range d.Bookings {
			delete(gone, b.ID)
		}
	}
	for id := range gone {
		if b, ok := p.bookings.Get(id); ok && b.Live() {
			b.State, b.Reason = booking.Cancelled, "removed by the cloud"
			b.Revision++
			said = append(said, b)
		}
	}
	return said
}

// edits are what a merge has to store and to tell.
func (p *plan) edits(stored, tell []booking.Booking) []edit {
	untold := map[string]booking.Booking{}
	for _, b := range tell {
		untold[b.ID] = b
	}
	var edits []edit
	for _, b := range stored {
		was, known := p.bookings.Get(b.ID)
		_, open := untold[b.ID]
		delete(untold, b.ID)
		e := edit{Booking: b, marks: p.marks[b.ID], known: !open}
		if known && onlyHeardOf(was, b) {
			edits = append(edits, e)
			continue
		}
		if len(stored) <= maxEvents || b.State == booking.Displaced {
			e.event = eventOfState(was, b, known)
		}
		edits = append(edits, e)
	}
	for _, b := range untold {
		edits = append(edits, edit{Booking: b, marks: p.marks[b.ID]})
	}
	return edits
}

// ruled marks what the cloud has decided itself, and so tells people itself.
func ruled(edits []edit, said []booking.Booking) {
	states := map[string]booking.State{}
	for _, b := range said {
		states[b.ID] = b.State
	}
	for i := range edits {
		edits[i].ruled = states[edits[i].ID] == edits[i].State
	}
}

// onlyHeardOf says that nothing has changed but that the cloud knows it now, or
// has said it again.
func onlyHeardOf(was, is booking.Booking) bool {
	was.CloudRevision, was.CreatedAt, was.UpdatedAt = is.CloudRevision, is.CreatedAt, is.UpdatedAt
	return booking.Same(was, is)
}

func done(id string) Receipt {
	now := time.Now().UTC()
	return Receipt{CommandID: id, State: Done, ReceivedAt: now, FinishedAt: now}
}

// scheduleDone answers a schedule that was applied before.
func (a *Agent) scheduleDone(ctx context.Context, e cloud.Envelope, s *space) error {
	return a.Events.Update(ctx, func(tx *store.Tx) error {
		return a.pushReceipt(tx, Command{Via: ViaMQTT, Space: s.ID}, done(e.ID))
	})
}

// wantSnapshot asks for what a lost message has said.
func (a *Agent) wantSnapshot(ctx context.Context, e cloud.Envelope, s *space, revision uint64) error {
	have := s.plan.terms.Load().Revision
	err := a.Events.Update(ctx, func(tx *store.Tx) error { return a.tellSnapshotWanted(tx, s, have, revision) })
	if err != nil {
		return err
	}
	return a.refuseMessage(ctx, e, refuse(Conflict, "revision", "%d leaves a gap after %d: send a snapshot", revision, have))
}

// tellSnapshotWanted asks the cloud for all bookings of a space.
func (a *Agent) tellSnapshotWanted(tx *store.Tx, s *space, have, revision uint64) error {
	return a.Events.Tell(tx, eventlog.Record{Type: "snapshotWanted", Time: a.Now(), Space: s.ID, Device: spaceDevice,
		Details: map[string]any{"have": have, "revision": revision}})
}
