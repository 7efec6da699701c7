package schedule

import (
	"errors"
	"fmt"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/store"
)

var (
	// bookings holds every booking by id.
	bookings = store.NewTable[storedBooking]("bookings")
	// plans holds what is set for a space at run time, by its id.
	plans = store.NewTable[storedPlan]("plans")
)

// Buckets names what the schedules have in the store.
func Buckets() []string { return []string{bookings.Bucket(), plans.Bucket()} }

// storedBooking is a booking with the steps that were taken.
type storedBooking struct {
	booking.Booking
	Marks booking.Marks `json:"marks"`
	// Over is when it was last stored as over; 0: it is not, or an earlier version did.
	Over     clock.Lived      `json:"over,omitempty"`
	Unsigned bool             `json:"unsigned,omitempty"`
	Vouched  booking.Interval `json:"vouched,omitzero"`
}

// storedPlan is what is set for a space over its configuration.
type storedPlan struct {
	// Revision is the last of the cloud's schedule that was applied.
	Revision uint64 `json:"revision,omitempty"`
	// Base is that of BaseAt, see revisionTime; 0: an earlier version has stored it.
	Base         uint64         `json:"revision_base,omitempty"`
	BaseAt       clock.Lived    `json:"revision_base_lived_s,omitempty"`
	Holds        []booking.Hold `json:"holds,omitempty"`
	Availability Availability   `json:"availability"`
	// Calendar is empty for none; nil: as configured, or else Sealed has the URL.
	Calendar  *string   `json:"calendar,omitempty"` // an earlier version has stored the URL here
	Sealed    []byte    `json:"calendar_sealed,omitempty"`
	External  string    `json:"external_cal_id,omitempty"` // as it was linked; empty: as configured
	FeedHash  []byte    `json:"feed_hash,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// readBookings returns the stored bookings by meeting space. One that cannot be
// read is left out.
func (bk *Book) readBookings(tx *store.Tx) map[string][]storedBooking {
	stored := map[string][]storedBooking{}
	for _, b := range bookings.All(tx) {
		stored[b.SpaceID] = append(stored[b.SpaceID], b)
	}
	if err := tx.Err(); err != nil {
		bk.o.Log.Error("cannot read a booking, leaving it out until the cloud's next snapshot brings it back", "error", err)
	}
	return stored
}

// readRoom makes the room of a meeting space from what is stored.
func (bk *Book) readRoom(tx *store.Tx, c config.Space, stored map[string][]storedBooking) (*Room, error) {
	kept, err := plans.Get(tx, c.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("read the plan of %s: %w", c.Name, err)
	}
	r := newRoom(bk, c, kept)
	r.load(stored[c.ID])
	return r, nil
}

// Forget makes the schedules of a backup those of another gateway: the cloud's
// revisions that this one hears begin with the first.
func Forget(tx *store.Tx) (err error) {
	for id, p := range plans.All(tx) {
		p.Revision = 0
		err = errors.Join(err, plans.Put(tx, id, p))
	}
	return err
}

// Words are the stored words that a support bundle must not show: titles,
// people, notes, and where calendars are as far as the keys tell it.
func Words(tx *store.Tx, keys *auth.Keys) (words []string) {
	for _, b := range bookings.All(tx) {
		words = append(words, b.Title, b.Organizer.Name, b.Organizer.Email, b.ExternalID)
	}
	for id, p := range plans.All(tx) {
		if url, err := p.linked(keys, id); err == nil && url != nil {
			words = append(words, *url)
		}
		for _, h := range p.Holds {
			words = append(words, h.Note)
		}
	}
	return words
}
