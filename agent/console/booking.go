package console

import (
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/problem"
	"roomgate/agent/site"
	"roomgate/agent/web"
)

// meetingLengths are those that forms offer.
var meetingLengths = []time.Duration{15 * time.Minute, 30 * time.Minute, 45 * time.Minute, time.Hour, 90 * time.Minute,
	2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 8 * time.Hour}

// Choice is one value of a field.
type Choice struct {
	Value, Label string
	Chosen       bool
}

// Book is the dialog that makes a booking.
type Book struct {
	SpaceID, Space, Day string
	Starts, Lengths     []Choice
	Organizer           bool // who books for whom is asked
	Undo                string
}

func viewBook(l *Look) (any, error) {
	s, err := l.space()
	if err != nil {
		return nil, err
	}
	d, err := l.day(s)
	if err != nil {
		return nil, err
	}
	if !l.trusted() {
		return nil, problem.New(problem.NotNow, "start_time", "can wait: the gateway does not know what time it is")
	}
	chosen, _ := time.Parse(time.RFC3339, l.Query.Get("start")) // none is the first
	v := Book{SpaceID: s.ID, Space: s.Name, Day: d.Title, Organizer: !l.Who.Personal(),
		Starts: l.starts(s, d.date, chosen), Lengths: lengths(s, 30*time.Minute), Undo: undoText("DELETE /v2.0/bookings/{id}", nil, "The booking is taken back.")}
	return v, nil
}

// starts are the times of a day at which a booking may begin from now on.
func (l *Look) starts(s *site.Space, day, chosen time.Time) (all []Choice) {
	slot := max(s.Room.Terms().Slot, 5*time.Minute)
	now := l.o.Agent.Now()
	for at := day; at.Before(midnight(day, 1)); at = at.Add(slot) {
		if at.Add(slot).After(now) || at.Equal(chosen) {
			all = append(all, Choice{at.Format(time.RFC3339), at.Format("15:04"), at.Equal(chosen)})
		}
	}
	return all
}

// lengths are those that the space allows, and the one that is.
func lengths(s *site.Space, chosen time.Duration) (all []Choice) {
	rules, found := s.Room.Terms(), false
	for _, length := range meetingLengths {
		if length < rules.Minimum || length > rules.Longest {
			continue
		}
		found = found || length == chosen
		all = append(all, Choice{minutesText(length), web.Length(length), length == chosen})
	}
	if !found {
		all = append(all, Choice{minutesText(chosen), web.Length(chosen), true})
	}
	return all
}

// BookingSheet is the dialog about a booking.
type BookingSheet struct {
	Meeting
	SpaceID             string
	Revision            uint64
	CheckIn, Move, Stop bool   // what may be done
	StopWord            string // end or cancel
	Starts, Lengths     []Choice
	UndoMove, UndoStop  string
}

func viewBooking(l *Look) (any, error) {
	b, err := l.o.Agent.Bookings.Get(l.Query.Get("booking"))
	if err == nil && !l.sees(b.SpaceID) {
		err = problem.New(problem.NotFound, "id", "is not a booking of this gateway")
	}
	if err != nil {
		return nil, err
	}
	s, err := l.o.Agent.Site.Space(b.SpaceID)
	if err != nil {
		return nil, err
	}
	b = l.o.SeenBy(&l.Who, b)
	now, rules := l.o.Agent.Now().In(s.Room.Terms().Zone), s.Room.Terms()
	mine := !l.Who.Personal() || b.Organizer.Is(l.Who.Address())
	v := BookingSheet{Meeting: newMeeting(b, now, now.Location()), SpaceID: s.ID, Revision: b.Revision}
	if v.Over || !mine || !l.trusted() {
		return v, nil
	}
	begun := !b.Start.After(now)
	_, err = b.CheckIn(rules, now)
	v.CheckIn, v.Move, v.Stop = err == nil && b.State == booking.Booked && rules.CheckIn, !begun, true
	v.StopWord = "Cancel the booking"
	again := asMade(b)
	if begun {
		v.StopWord, again["start_time"] = "End the meeting now", now.UTC().Truncate(time.Minute).Format(time.RFC3339)
	}
	v.UndoStop = undoText("POST /v2.0/bookings", again, "It is booked again.")
	v.Starts, v.Lengths = l.starts(s, midnight(b.Start.In(now.Location()), 0), b.Start), lengths(s, b.End.Sub(b.Start))
	v.UndoMove = undoText("PATCH /v2.0/bookings/"+b.ID, map[string]any{"start_time": stampOf(b.Start), "end_time": stampOf(b.End)}, "It is where it was.")
	return v, nil
}

// asMade is a booking as it would be made again.
func asMade(b booking.Booking) map[string]any {
	again := map[string]any{"meeting_space_id": b.SpaceID, "start_time": stampOf(b.Start), "end_time": stampOf(b.End), "title": b.Title, "private": b.Private}
	if b.Organizer != (booking.Person{}) {
		again["organizer"] = b.Organizer
	}
	return again
}

func stampOf(t time.Time) string { return t.UTC().Format(time.RFC3339) }
