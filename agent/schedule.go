package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"roomgate/agent/booking"
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
	var d downSchedule
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return a.refuseMessage(ctx, e, refuse(Invalid, "data", "is no schedule: %v", err))
	}
	s, err := a.space(d.Space)
	if err == nil {
		err = d.complete(e.Time)
	}
	if err != nil {
		return a.refuseMessage(ctx, e, AsError(err))
	}
	if err := s.plan.lock(ctx); err != nil {
		return err
	}
	defer s.plan.unlock()
	have := s.plan.terms.Load().Revision
	switch {
	case d.Kind == kindDelta && d.Revision <= have:
		return a.scheduleDone(ctx, e, s) // it came twice
	case d.Kind == kindDelta && d.Revision > have+1:
		return a.wantSnapshot(ctx, e, s, d.Revision)
	case d.Revision < have:
		return a.refuseMessage(ctx, e, refuse(Conflict, "revision", "is %d and the space has %d already: send a later one", d.Revision, have))
	}
	return a.applySchedule(ctx, e, s, d)
}

// complete checks a schedule and fills in what a cloud need not say.
func (d *downSchedule) complete(at time.Time) error {
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
		if err := b.Complete(d.Revision, at); err != nil {
			p := AsError(err)
			p.Field = fmt.Sprintf("bookings[%d].%s", i, p.Field)
			return p
		}
	}
	return nil
}

// applySchedule merges what the cloud says and stores the outcome with the
// revision in one transaction. The caller has the turn.
func (a *Agent) applySchedule(ctx context.Context, e cloud.Envelope, s *space, d downSchedule) error {
	now := a.Now()
	said := append(d.Bookings, s.plan.removed(d, now)...)
	changed, tell := booking.Merge(s.plan.bookings.Get, s.plan.bookings.Live(), said)
	edits := s.plan.edits(changed, tell)
	kept := s.plan.terms.Load().storedPlan
	kept.Revision = d.Revision
	err := a.commit(ctx, s, edits, func(tx *store.Tx) error {
		if err := plans.Put(tx, s.ID, kept); err != nil {
			return err
		}
		return a.pushReceipt(tx, Command{Via: ViaMQTT, Space: s.ID}, done(e.ID))
	})
	if err != nil {
		return err
	}
	s.plan.terms.Store(newTerms(s.Space, kept))
	a.log.Info("a schedule was applied", "meeting_space", s.Name, "kind", d.Kind, "revision", d.Revision,
		"bookings", len(d.Bookings), "changed", len(changed))
	return nil
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
			if b.CloudRevision != 0 && b.CloudRevision <= d.Revision && b.End.After(now) {
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

// onlyHeardOf says that nothing has changed but that the cloud knows it now.
func onlyHeardOf(was, is booking.Booking) bool {
	was.CloudRevision = is.CloudRevision
	return booking.Same(was, is)
}

func done(id string) Receipt {
	now := time.Now().UTC()
	return Receipt{CommandID: id, State: Done, ReceivedAt: now, FinishedAt: now}
}

// scheduleDone answers a schedule that was applied before.
func (a *Agent) scheduleDone(ctx context.Context, e cloud.Envelope, s *space) error {
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		return a.pushReceipt(tx, Command{Via: ViaMQTT, Space: s.ID}, done(e.ID))
	})
	a.logGrown()
	return err
}

// wantSnapshot asks for what a lost message has said.
func (a *Agent) wantSnapshot(ctx context.Context, e cloud.Envelope, s *space, revision uint64) error {
	have := s.plan.terms.Load().Revision
	details := map[string]any{"have": have, "revision": revision}
	now := a.Now()
	data, err := eventRecord{"snapshotWanted", now, s.ID, spaceDevice, "", details}.encode()
	if err != nil {
		return err
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		_, err := a.logRows.Push(tx, a.row(eventType("snapshotWanted"), now, s.ID, "", "", data))
		return err
	})
	if err != nil {
		return err
	}
	return a.refuseMessage(ctx, e, refuse(Conflict, "revision", "%d leaves a gap after %d: send a snapshot", revision, have))
}
