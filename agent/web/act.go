package web

import (
	"encoding/json"
	"fmt"
	"time"

	"roomgate/agent/booking"
)

// Act is something that one may do at the door: a button.
type Act struct {
	ID    string // of its element, by which it keeps the focus
	Label string
	Open  string // the panel that it opens; else it posts
	Post  string
	Body  string // JSON
	Main  bool   // it is what most people come for
	Lead  string // the id of the element from whose text its label goes on
}

// The lengths of meetings that are offered at the door.
var (
	bookLengths   = []time.Duration{15 * time.Minute, 30 * time.Minute, time.Hour}
	extendLengths = []time.Duration{15 * time.Minute, 30 * time.Minute}
)

// body is the JSON of a button.
func body(pairs map[string]any) string {
	text, _ := json.Marshal(pairs) // texts and numbers can be encoded
	return string(text)
}

// acts are what one may do now, and nothing else.
func (d door) acts() (all []Act) {
	if d.v.ClockTrusted {
		all = append(all, d.bookNow()...)
	}
	if b := d.v.meeting(); b != nil {
		all = append(all, d.withMeeting(*b)...)
	}
	if d.v.state() != stateFree {
		all = append(all, Act{ID: "act-rooms", Label: d.T("rooms"), Open: "panel/rooms"})
	}
	if d.v.ClockTrusted && d.v.State.Status != booking.Disabled {
		all = append(all, Act{ID: "act-later", Label: d.T("later"), Open: "panel/later"})
	}
	return all
}

// more are those that are there in every state.
func (d door) more() []Act {
	why := d.v.state()
	if d.v.theme() == ThemeMono { // it is none of the colours
		why = "plain"
	}
	return []Act{
		{ID: "act-why", Label: d.T("why." + why), Open: "panel/why"},
		{ID: "act-phone", Label: d.T("phone"), Post: "do/phone"},
		{ID: "act-report", Label: d.T("report"), Open: "panel/report"},
	}
}

// bookNow offers the lengths that fit before what comes next, and all of what is
// left if that is less than the longest.
func (d door) bookNow() (all []Act) {
	v := d.v
	if v.state() != stateFree || !v.Rules.AllowCurrent {
		return nil
	}
	left := v.Rules.WalkUp
	if atDoor := v.Rules.DoorLeft(v.Now, v.Today); atDoor >= v.Rules.Minimum { // else the refusal says why
		left = atDoor
	}
	if until := v.State.AvailableUntil; !until.IsZero() {
		left = min(left, until.Sub(v.Now))
	}
	for _, length := range bookLengths {
		if length <= left && length >= v.Rules.Minimum {
			all = append(all, Act{ID: minuteID("act", length), Label: Length(length), Post: "do/book", Main: true, Lead: "lead",
				Body: body(map[string]any{"minutes": int(length.Minutes())})})
		}
	}
	whole := v.State.AvailableUntil
	if longest := bookLengths[len(bookLengths)-1]; !whole.IsZero() && left < longest && left >= v.Rules.Minimum &&
		left == whole.Sub(v.Now) && (len(all) == 0 || left > bookLengths[len(all)-1]) {
		all = append(all, Act{ID: "act-all", Label: d.T("until", "time", d.clock(whole)), Post: "do/book", Main: true, Lead: "lead",
			Body: body(map[string]any{"until": whole.UTC().Format(time.RFC3339)})})
	}
	return all
}

// withMeeting offers what may be done with the meeting of now.
func (d door) withMeeting(b booking.Booking) (all []Act) {
	v, id := d.v, body(map[string]any{"booking_id": b.ID})
	if v.ClockTrusted && b.State == booking.Booked && v.Rules.CheckIn {
		if _, err := b.CheckIn(v.Rules, v.Now); err == nil {
			all = append(all, Act{ID: "act-checkin", Label: d.T("checkin.do"), Post: "do/check-in", Body: id, Main: true})
		}
	}
	if v.inside() == nil {
		return all
	}
	end := d.T("end")
	if v.Hold != nil {
		end = d.T("end.meeting") // the state that was set by hand goes on
	}
	if v.Hold == nil && v.ClockTrusted && (b.State == booking.CheckedIn || !v.Rules.CheckIn) {
		all = append(all, d.extend(b)...)
	}
	if _, err := b.EndNow(v.Now); err == nil {
		all = append(all, Act{ID: "act-end", Label: end, Post: "do/end", Body: id})
	}
	return all
}

// extend offers the lengths by which a meeting may go on, and all of what is left if
// that is less than the longest.
func (d door) extend(b booking.Booking) (all []Act) {
	main, fits := d.v.state() == stateEnding, b.End
	for _, length := range extendLengths {
		if d.extends(b, b.End.Add(length)) {
			fits = b.End.Add(length)
			all = append(all, Act{ID: minuteID("act-more", length), Label: Length(length), Post: "do/extend", Lead: "lead",
				Body: body(map[string]any{"booking_id": b.ID, "minutes": int(length.Minutes())}), Main: main})
		}
	}
	end := b.End.Add(extendLengths[len(extendLengths)-1]).Truncate(time.Minute)
	for !end.Before(fits.Add(time.Minute)) && !d.extends(b, end) {
		end = end.Add(-time.Minute)
	}
	if !end.Before(fits.Add(time.Minute)) {
		all = append(all, Act{ID: "act-more-all", Label: d.T("until", "time", d.clock(end)), Post: "do/extend", Lead: "lead",
			Body: body(map[string]any{"booking_id": b.ID, "until": end.UTC().Format(time.RFC3339)}), Main: main})
	}
	return all
}

// extends says whether a meeting may go on until then.
func (d door) extends(b booking.Booking, end time.Time) bool {
	if next := d.v.State.Next; next != nil && next.ID != b.ID && next.Overlaps(b.End, end) { // it may be of tomorrow
		return false
	}
	for _, other := range d.v.Today {
		if other.ID != b.ID && other.Live() && other.Overlaps(b.End, end) {
			return false
		}
	}
	_, err := b.Extend(end, d.v.Rules, d.v.Now)
	return err == nil && d.v.Rules.ExtendAtDoor(b, end, d.v.Today) == nil
}

// minuteID is the id of a button for a length.
func minuteID(of string, length time.Duration) string {
	return fmt.Sprintf("%s-%d", of, int(length.Minutes()))
}
