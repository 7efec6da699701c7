package booking

import (
	"math"
	"time"
)

// MaxRevision is the highest revision that the cloud may say: half of what there is
// is left to the building, whose next one has to be later.
const MaxRevision = math.MaxInt64

// Complete checks a booking as the cloud says it in the schedule of that
// revision, and fills in what it need not say. The rules of the space are not
// asked: the cloud has decided.
func (b *Booking) Complete(revision uint64, at time.Time) error {
	b.Start, b.End = b.Start.UTC().Truncate(time.Millisecond), b.End.UTC().Truncate(time.Millisecond)
	switch {
	case b.Start.IsZero():
		return invalid("start_time", "is missing")
	case !b.End.After(b.Start):
		return invalid("end_time", "is not after start_time")
	}
	fill(&b.State, Booked)
	fill(&b.Source, Cloud)
	fill(&b.Revision, 1)
	fill(&b.CloudRevision, revision)
	if max(b.Revision, b.CloudRevision) > MaxRevision {
		return invalid("revision", "is out of range: want at most %d", uint64(MaxRevision))
	}
	for _, t := range []*time.Time{&b.CreatedAt, &b.UpdatedAt} {
		if t.IsZero() {
			*t = at
		}
		*t = stampOf(*t)
	}
	for _, t := range []*time.Time{&b.CheckedInAt, &b.ReleasedAt, &b.EndedAt, &b.PlannedEnd} {
		*t = stampOf(*t)
	}
	if err := b.writable(); err != nil {
		return err
	}
	switch b.State {
	case Booked, CheckedIn, Ended, Cancelled, Released, Displaced:
	default:
		return invalid("state", "is not known: want booked, checked_in, ended, cancelled, released or displaced")
	}
	switch b.Source {
	case Local, Cloud, Calendar, WalkUp:
	default:
		return invalid("source", "is not known: want local, cloud, calendar or walk_up")
	}
	return b.check()
}

// writable refuses times that have no form in RFC 3339, which counts years from
// 0 to 9999: in UTC they may be beyond although they were not in their zone.
func (b *Booking) writable() error {
	for _, f := range []struct {
		name string
		at   time.Time
	}{{"start_time", b.Start}, {"end_time", b.End}, {"created_at", b.CreatedAt}, {"updated_at", b.UpdatedAt},
		{"checked_in_at", b.CheckedInAt}, {"released_at", b.ReleasedAt}, {"ended_at", b.EndedAt}, {"planned_end_time", b.PlannedEnd}} {
		if year := f.at.Year(); year < 0 || year > 9999 {
			return invalid(f.name, "is in no year from 0 to 9999")
		}
	}
	return nil
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
