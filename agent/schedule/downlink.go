package schedule

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
	"roomgate/agent/problem"
	"roomgate/cloud"
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

// Take lays what a schedule message of the cloud says over a room. A message that cannot
// be applied changes nothing, and the cloud hears of the refusal. An error is one of the
// store: then the message has to come again.
func (bk *Book) Take(ctx context.Context, e cloud.Envelope, a Answerer) (refusal *problem.Error, err error) {
	refusal, missing, err := bk.take(ctx, e, a)
	if refusal == nil {
		return nil, err
	}
	return refusal, bk.refuse(ctx, refusal, missing, a)
}

// take is Take without the answer to a refusal; missing is the snapshot to ask for then, if any.
func (bk *Book) take(ctx context.Context, e cloud.Envelope, a Answerer) (refusal *problem.Error, missing *ask, err error) {
	d, err := readSchedule(e)
	if err != nil {
		return asProblem(err), nil, nil
	}
	r, err := bk.room(d.Space)
	if err != nil {
		return asProblem(err), nil, nil
	}
	if err := r.enter(ctx); err != nil {
		return nil, nil, err
	}
	defer r.turn.Unlock()
	if err := d.complete(e.Time, r.bookings.Get); err != nil {
		return asProblem(err), nil, nil
	}
	kept, now := r.terms.Load().storedPlan, bk.o.Clock.Lived()
	have := kept.Revision
	switch {
	case d.Kind == kindDelta && d.Revision <= have && have-d.Revision < maxTwice: // it came twice
		return nil, nil, a.Again(ctx, r.ID)
	case d.Kind == kindDelta && d.Revision != have+1, d.Revision > kept.furthest(now):
		return gap(kept, d.Revision, now), &ask{bk, r, have, d.Revision}, nil
	case d.Revision < have:
		return problem.New(problem.Conflict, "revision", "is %d and the space has %d already: send a later one", d.Revision, have), nil, nil
	}
	if refusal := a.Allowed(); refusal != nil {
		return refusal, nil, nil
	}
	changed, err := bk.apply(ctx, r, d, a.Done(r.ID))
	a.Wrote(changed)
	if refusal := problem.As(err); refusal != nil { // it would not be better the second time
		return refusal, nil, nil
	}
	return nil, nil, err
}

// asProblem is what is wrong with a message, for who has sent it.
func asProblem(err error) *problem.Error {
	if p := problem.As(err); p != nil {
		return p
	}
	if wrong := new(cloud.EnvelopeError); errors.As(err, &wrong) {
		return &problem.Error{Code: problem.Invalid, Field: wrong.Field, Message: wrong.Problem}
	}
	return problem.New(problem.Internal, "", "internal error, see the gateway's log")
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
		if field, wrong := wrongField(part); field != "" {
			return d, problem.New(problem.Invalid, fmt.Sprintf("bookings[%d]%s", i, field), "%s", wrong)
		}
	}
	refusal := asProblem(err)
	if refusal.Field == "data" {
		refusal.Message = "is no schedule: it " + refusal.Message
	}
	return d, refusal
}

// wrongField names, with a dot before it, the member of a booking that is not
// known or cannot be decoded, and what is wrong with it; empty: none.
func wrongField(part json.RawMessage) (field, wrong string) {
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
		return problem.New(problem.Invalid, "revision", "is missing: want 1 or more")
	case d.Revision > booking.MaxRevision:
		return problem.New(problem.Invalid, "revision", "is out of range: want at most %d", uint64(booking.MaxRevision))
	case d.Kind != kindSnapshot && d.Kind != kindDelta:
		return problem.New(problem.Invalid, "kind", "is %q: want snapshot or delta", d.Kind)
	case len(d.Bookings) > maxBookings:
		return problem.New(problem.Invalid, "bookings", "are %d: at most %d", len(d.Bookings), maxBookings)
	}
	for i := range d.Bookings {
		b := &d.Bookings[i]
		if b.SpaceID == "" {
			b.SpaceID = d.Space
		}
		if b.SpaceID != d.Space {
			return problem.New(problem.Invalid, fmt.Sprintf("bookings[%d].meeting_space_id", i), "is another space than the schedule's")
		}
		if err := complete(b, d.Revision, at, have); err != nil {
			p := asProblem(err)
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
	b.OrganizationID = cmp.Or(b.OrganizationID, mine.OrganizationID)
	if b.State != mine.State {
		return
	}
	b.CheckedInBy = cmp.Or(b.CheckedInBy, mine.CheckedInBy)
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
		if !eventlog.Storable(f.at) {
			return problem.New(problem.Invalid, f.name, "is out of range: want a year from 1970 to 9999")
		}
	}
	return nil
}

// apply merges what the cloud says and stores the outcome with the revision and
// the answer in one transaction. The caller has the turn. changed is how many bookings are written.
func (bk *Book) apply(ctx context.Context, r *Room, d downSchedule, done eventlog.Stage) (written int, err error) {
	now := bk.o.Clock.Now()
	said, err := bk.ownSaid(r, d.Bookings)
	if err != nil {
		return 0, err
	}
	said, asked := r.heard(append(said, r.removed(d, now)...))
	changed, tell := booking.Merge(r.bookings.Get, r.bookings.Walk, said)
	changed, tell = r.decided(asked, changed, tell, now)
	changed, tell = bk.onward(r, changed, tell)
	edits := r.edits(changed, r.untold(d.Kind, said, tell), true)
	ruled(edits, said)
	if d.Kind == kindSnapshot {
		edits = append(edits, r.unheard(said, edits)...)
	}
	kept := r.terms.Load().storedPlan
	kept.reach(d.Revision, bk.o.Clock.Lived())
	if err := r.commit(ctx, edits, r.stageTerms(ctx, kept), done); err != nil {
		return 0, err
	}
	bk.o.Log.Info("a schedule was applied", "meeting_space", r.Name(), "kind", d.Kind, "revision", d.Revision,
		"bookings", len(d.Bookings), "changed", len(changed))
	return len(edits), nil
}

// ownSaid are the bookings that are this space's: one that lives elsewhere is
// refused by its field, and of one that was moved to another space the old
// record is left out.
func (bk *Book) ownSaid(r *Room, said []booking.Booking) ([]booking.Booking, error) {
	mine := make([]booking.Booking, 0, len(said))
	for i, b := range said {
		old, from := bk.elsewhere(r, b.ID)
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
func (r *Room) unheard(said []booking.Booking, edits []edit) (more []edit) {
	done := map[string]bool{}
	for _, b := range said {
		done[b.ID] = true
	}
	for _, e := range edits {
		done[e.ID] = true
	}
	r.bookings.Walk(func(b *booking.Booking) bool {
		if m := r.marks[b.ID]; (b.CloudRevision == 0 || m.Returned) && !done[b.ID] {
			m.Returned = false
			more = append(more, edit{Booking: *b, marks: m})
		}
		return true
	})
	return more
}

// removed are the bookings that the cloud no longer has, as it says them: the
// ones it names, and of a snapshot those it knew and left out.
func (r *Room) removed(d downSchedule, now time.Time) (said []booking.Booking) {
	gone := map[string]bool{}
	for _, id := range d.Removed {
		gone[id] = true
	}
	if d.Kind == kindSnapshot {
		r.bookings.Walk(func(b *booking.Booking) bool {
			if b.CloudRevision != 0 && b.CloudRevision <= d.Revision && b.End.After(now) && !r.marks[b.ID].Returned {
				gone[b.ID] = true
			}
			return true
		})
		for _, b := range d.Bookings {
			delete(gone, b.ID)
		}
	}
	for id := range gone {
		if b, ok := r.bookings.Get(id); ok && b.Live() {
			b.State, b.Reason = booking.Cancelled, "removed by the cloud"
			b.Revision++
			said = append(said, b)
		}
	}
	return said
}

// edits are what a merge has to store and to tell. unsigned says that it is by a word that opens no door.
func (r *Room) edits(stored, tell []booking.Booking, unsigned bool) []edit {
	untold := map[string]booking.Booking{}
	for _, b := range tell {
		untold[b.ID] = b
	}
	var edits []edit
	for _, b := range stored {
		was, known := r.bookings.Get(b.ID)
		_, open := untold[b.ID]
		delete(untold, b.ID)
		b.Unsigned, b.Vouched = was.Unsigned, was.Vouched
		if unsigned && !(known && onlyHeardOf(was, b)) {
			b.Doubt(was, known)
		}
		e := edit{Booking: b, marks: r.marks[b.ID], known: !open}
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
		was, _ := r.bookings.Get(b.ID)
		b.Unsigned, b.Vouched = was.Unsigned, was.Vouched
		edits = append(edits, edit{Booking: b, marks: r.marks[b.ID]})
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
