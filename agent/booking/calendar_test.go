package booking

import (
	"testing"
	"time"

	"roomgate/agent/goldentest"
)

func TestWhatLeftItsCalendarReturns(t *testing.T) {
	b := meeting(Booked)
	b.Source, b.PlannedEnd = Calendar, at(10, 30)
	gone := b.Leave(at(9, 0))
	if !gone.Left() || gone.State != Cancelled || gone.Revision != b.Revision+1 {
		t.Fatalf("it left as %+v", gone)
	}
	free := NewSchedule([]Booking{gone})
	back := gone.Return(free, at(9, 30))
	goldentest.Values(t, "it returned", goldentest.Pairs{"State": {back.State, Booked}, "Reason": {back.Reason, ""},
		"Revision": {back.Revision, b.Revision + 2}, "CreatedAt": {back.CreatedAt.Equal(at(9, 30)), true},
		"Left": {back.Left(), false}})
	for _, late := range []Booking{b, gone} { // old messages
		if Join(back, late) != back || Join(late, back) != back {
			t.Errorf("%+v is taken back by %+v", back, late)
		}
	}
	other := meeting(Booked)
	other.ID, other.Start = "other", b.Start.Add(time.Minute)
	if lost := gone.Return(NewSchedule([]Booking{gone, other}), at(9, 30)); lost.State != Displaced || lost.Reason == "" || lost.Revision != back.Revision {
		t.Errorf("into a room that is taken it returned as %+v", lost)
	}

	// What somebody has decided is final, whatever reason it had before.
	person, err := back.Cancel(at(9, 40))
	person.Reason = ""
	if err != nil || person.Left() || Join(person, back.Leave(at(9, 50))) != person {
		t.Errorf("a person's cancellation: %+v, %v", person, err)
	}
	spoilt := b
	spoilt.Reason = LeftCalendar // as a cloud may send it
	if spoilt, err = spoilt.Cancel(at(9, 40)); err != nil || spoilt.Left() {
		t.Errorf("a person's cancellation has only left: %+v, %v", spoilt, err)
	}
	local := gone
	local.Source = Local
	if local.Left() {
		t.Error("a booking of no calendar has left it")
	}
}
