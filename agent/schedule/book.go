package schedule

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"roomgate/agent/auth"
	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/outgoing"
	"roomgate/agent/problem"
	"roomgate/store"
)

// Options are what a book is opened with.
type Options struct {
	DB     *store.DB
	Events *eventlog.Log
	Clock  *clock.Clock
	Log    *slog.Logger
	Keys   *auth.Keys // seal the addresses of calendars

	// Calendars fetches external calendars; nil: the network, for a calendar that
	// somebody links as far as Policy allows.
	Calendars *http.Client
	Policy    outgoing.Policy

	// Presence says whether people are in a meeting space. It is blind while the sensor
	// has not answered since the start.
	Presence func(spaceID string) (seen Presence, blind bool)
	// Owner is the organization of a meeting space, empty if it has none. It refuses
	// an unknown space.
	Owner func(spaceID string) (organization string, err error)
	// Notices tells the organizers of bookings that the room released or lost,
	// unless the cloud has decided that and tells them itself.
	Notices func(r *Room, gone []booking.Booking) eventlog.Stage
	// Changed is called when the state of a meeting space changes. It must not wait.
	Changed func(spaceID string)
	// Asked hears that the state of a meeting space is to be sent. It must not wait.
	Asked func(spaceID string)
}

// Book has the schedules of all meeting spaces.
type Book struct {
	o         Options
	started   time.Time
	rooms     atomic.Pointer[rooms]
	swapped   loop.Broadcast // the rooms were replaced
	woken     loop.Signal    // holds a token when a room has changed
	asks      *rate.Limiter  // for snapshots, while too much is refused
	calendars calendarClients
}

// rooms are those of all meeting spaces. They are replaced as a whole.
type rooms struct {
	byID  map[string]*Room
	order []*Room // the configuration's, then what came later
}

func newRooms(order []*Room) *rooms {
	t := &rooms{map[string]*Room{}, order}
	for _, r := range order {
		t.byID[r.ID] = r
	}
	return t
}

// New makes a book without rooms; Load reads them, and Run moves them.
func New(o Options) *Book {
	bk := &Book{o: o, started: time.Now(), woken: loop.NewSignal(), calendars: newCalendarClients(o), asks: rate.NewLimiter(rate.Every(asksEvery), 5)}
	bk.rooms.Store(newRooms(nil))
	return bk
}

// Load makes the rooms of the configured meeting spaces, with what is stored.
func (bk *Book) Load(tx *store.Tx, spaces []config.Space) error {
	stored := bk.readBookings(tx)
	order := make([]*Room, len(spaces))
	for i, c := range spaces {
		r, err := bk.readRoom(tx, c, stored)
		if err != nil {
			return err
		}
		order[i] = r
	}
	bk.rooms.Store(newRooms(order))
	return nil
}

// Room returns the room of a meeting space; nil: there is none.
func (bk *Book) Room(spaceID string) *Room { return bk.rooms.Load().byID[spaceID] }

func (bk *Book) room(spaceID string) (*Room, error) {
	if r := bk.Room(spaceID); r != nil {
		return r, nil
	}
	return nil, problem.New(problem.NotFound, "meeting_space_id", "is not a meeting space of this building")
}

// Missing is the refusal of a space that the building does not have; nil: it has it.
func (bk *Book) Missing(spaceID string) *problem.Error {
	_, err := bk.room(spaceID)
	return problem.As(err)
}

// Run takes the steps of bookings and follows calendars until ctx ends.
func (bk *Book) Run(ctx context.Context) error {
	loops, ctx := errgroup.WithContext(ctx)
	loops.Go(func() error { return bk.runSteps(ctx) })
	loops.Go(func() error { return loop.ForEach(ctx, bk.configured, bk.followCalendar) })
	return loops.Wait()
}

// configured is a room for as long as it has the same configuration.
type configured struct {
	*Room
	as *config.Space
}

func (bk *Book) configured() (all []configured, changed <-chan struct{}) {
	changed = bk.swapped.Wait()
	for _, r := range bk.rooms.Load().order {
		all = append(all, configured{r, r.config.Load()})
	}
	return all, changed
}

// ClockMoved lets every room be looked at again: what it is like depends on the
// time.
func (bk *Book) ClockMoved() {
	for _, r := range bk.rooms.Load().order {
		r.changed()
	}
}

// changed wakes anybody who follows a room.
func (r *Room) changed() {
	r.book.o.Changed(r.ID)
	r.link.roomChanged.Wake()
	r.book.woken.Wake()
}

// NoteNewSpaces notes when meeting spaces were first seen. A full disk is no
// reason not to go on: then it is noted at the next start.
func (bk *Book) NoteNewSpaces(ctx context.Context) error {
	for _, r := range bk.rooms.Load().order {
		if !r.terms.Load().CreatedAt.IsZero() {
			continue
		}
		if err := r.noteNewSpace(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Get returns the booking of that id.
func (bk *Book) Get(id string) (booking.Booking, error) {
	b, _, err := bk.find(id)
	return b, err
}

// find returns a booking and the room that it is in.
func (bk *Book) find(id string) (booking.Booking, *Room, error) {
	for _, r := range bk.rooms.Load().order {
		if b, ok := r.bookings.Get(id); ok {
			return b, r, nil
		}
	}
	return booking.Booking{}, nil, problem.New(problem.NotFound, "booking_id", "is not a booking of this building")
}

// elsewhere returns the booking of that id in another room than r.
func (bk *Book) elsewhere(r *Room, id string) (booking.Booking, *Room) {
	for _, other := range bk.rooms.Load().order {
		if other == r {
			continue
		}
		if b, ok := other.bookings.Get(id); ok {
			return b, other
		}
	}
	return booking.Booking{}, nil
}

// List returns the bookings of a meeting space, or of all if spaceID is empty,
// that share a moment with [from, to), sorted by start. A zero bound is none.
func (bk *Book) List(spaceID string, from, to time.Time) ([]booking.Booking, error) {
	if spaceID != "" {
		r, err := bk.room(spaceID)
		if err != nil {
			return nil, err
		}
		return r.bookings.All(from, to), nil
	}
	var all []booking.Booking
	for _, r := range bk.rooms.Load().order {
		all = append(all, r.bookings.All(from, to)...)
	}
	slices.SortStableFunc(all, func(x, y booking.Booking) int { return x.Start.Compare(y.Start) })
	return all, nil
}
