package web

import (
	"slices"
	"time"

	"roomgate/agent/booking"
)

// Offer is a start that can be booked, and for how long.
type Offer struct {
	Start   time.Time
	Lengths []time.Duration
}

// LaterLengths are those that are offered for later.
var LaterLengths = []time.Duration{30 * time.Minute, time.Hour}

// laterRows is how many starts the panel shows at once: as many as a panel in landscape
// has room for, so that none is hidden below its edge; a low one has two columns.
const laterRows = 5

// later is the panel of what can be booked today: the hours with a free start first,
// then the starts from one of them on.
type later struct {
	door
	Hours []Act
	Rows  []laterRow
	Turn  []Act // to other panels
}

// laterRow is a time, and what can be done with it.
type laterRow struct {
	ID, Time string
	Acts     []Act
}

// RenderLater makes the panel that offers times of today: those from a start on; the
// hours to choose from if that is zero and they are more than fit in. booked says that
// there is something for RenderBooked.
func RenderLater(v View, offers []Offer, from time.Time, booked bool) ([]byte, error) {
	p := later{door: newDoor(v)}
	if !from.IsZero() {
		p.Turn = append(p.Turn, Act{ID: "later-back", Label: p.T("back"), Open: "panel/later"})
	} else if booked {
		p.Turn = append(p.Turn, Act{ID: "later-booked", Label: p.T("later.booked"), Open: "panel/booked"})
	}
	if from.IsZero() && len(offers) > laterRows {
		p.Hours = p.hours(offers)
		return render("panel-later", p)
	}
	offers = slices.DeleteFunc(slices.Clone(offers), func(o Offer) bool { return o.Start.Before(from) })
	if len(offers) > laterRows {
		p.Turn = append(p.Turn, Act{ID: "later-more", Label: p.T("later.more"), Open: laterPath(offers[laterRows])})
		offers = offers[:laterRows]
	}
	for _, o := range offers {
		at := o.Start.UTC().Format("1504")
		row := laterRow{ID: "row-" + at, Time: p.T("later.row", "time", p.clock(o.Start))}
		for _, length := range o.Lengths {
			start := o.Start.UTC().Format(time.RFC3339)
			row.Acts = append(row.Acts, Act{ID: minuteID("later-"+at, length), Label: p.clock(o.Start.Add(length)), Post: "do/book", Lead: row.ID,
				Body: body(map[string]any{"start": start, "minutes": int(length.Minutes())})})
		}
		p.Rows = append(p.Rows, row)
	}
	return render("panel-later", p)
}

// hours are the first start of each hour that has one.
func (p later) hours(offers []Offer) (all []Act) {
	hour := ""
	for _, o := range offers {
		local := o.Start.In(p.v.Now.Location())
		if its := local.Format("15 -0700"); its != hour { // an hour that the clocks repeat is two
			hour = its
			all = append(all, Act{ID: "later-from-" + o.Start.UTC().Format("1504"), Label: p.clock(o.Start), Open: laterPath(o)})
		}
	}
	return all
}

// laterPath is the panel from an offer on.
func laterPath(o Offer) string { return "panel/later?from=" + o.Start.UTC().Format(time.RFC3339) }

// RenderBooked makes the panel of what was booked at the door and can be cancelled there.
func RenderBooked(v View, all []booking.Booking) ([]byte, error) {
	p := later{door: newDoor(v)}
	p.Turn = []Act{{ID: "later-back", Label: p.T("back"), Open: "panel/later"}}
	for _, b := range all {
		row := laterRow{ID: "row-" + b.Start.UTC().Format("1504"), Time: p.clock(b.Start) + " – " + p.clock(b.End)}
		row.Acts = []Act{{ID: "cancel-" + b.Start.UTC().Format("1504"), Label: p.T("later.cancel"), Post: "do/undo", Lead: row.ID, Body: body(map[string]any{"booking_id": b.ID})}}
		p.Rows = append(p.Rows, row)
	}
	return render("panel-booked", p)
}
