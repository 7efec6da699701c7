package web

import (
	"html/template"
	"slices"
	"strings"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/problem"
	"roomgate/agent/qr"
)

// Evidence is what is known while somebody asks why a room is as it is.
type Evidence struct {
	Sensed    bool          // there is a sensor, and it answers
	SensedAgo time.Duration // when it last did
	Since     time.Time     // since when the room is as it was seen; zero: not known
	Things    []Thing
}

// Thing is a device with its proof.
type Thing struct {
	Name   string // door, lock or light
	Value  string
	Source string // what says so, see drivers.Status
	Ago    time.Duration
	// Offline is set where nobody knows: a sentence of the driver is for roomgate doctor, not for a page in five languages.
	Offline bool
}

// why is the panel that says it.
type why struct {
	door
	e Evidence
}

// RenderWhy makes the panel that answers why the room is green, amber or red.
func RenderWhy(v View, e Evidence) ([]byte, error) { return render("panel-why", why{newDoor(v), e}) }

// Sentence is the rule that made it so.
func (p why) Sentence() string {
	v := p.v
	key, until := "because."+v.state(), v.until()
	switch {
	case v.Hold != nil && until.IsZero():
		return p.T("because.hold", "state", p.Word())
	case v.Hold != nil:
		return p.T("because.hold.until", "state", p.Word(), "time", p.time(until))
	case v.state() == stateFree && until.IsZero():
		key = "because.free.open"
	case v.state() == stateDisabled && !until.IsZero():
		key = "because.closed"
	case v.state() == stateCheckIn:
		by, ok := v.State.Current.ReleaseAt(v.Rules)
		if !ok {
			key = "because.kept"
		}
		until = by
	case v.state() == stateReserved && v.meeting() != nil:
		return p.T(key, "start", p.time(v.meeting().Start), "from", p.time(v.meeting().Start.Add(-v.Rules.Opens)))
	case v.state() == stateBusy || v.state() == stateEnding:
		return p.busy()
	}
	return p.T(key, "time", p.time(until))
}

func (p why) busy() string {
	b := p.v.State.Current
	switch {
	case b == nil:
		return p.T("because.early")
	case b.State == booking.CheckedIn && b.Source == booking.WalkUp:
		return p.T("because.walkup", "at", p.time(b.Start), "time", p.time(b.End))
	case b.State == booking.CheckedIn:
		return p.T("because.busy", "at", p.time(b.CheckedInAt), "time", p.time(b.End))
	}
	return p.T("because.running", "time", p.time(b.End))
}

// time is a time of day, unless the clock is not trusted.
func (p why) time(t time.Time) string {
	if !p.v.ClockTrusted || t.IsZero() {
		return p.T("clock.unknown")
	}
	return p.clock(t)
}

// aged is a text before its age, the age, which the page counts on, and the text after it.
type aged [3]string

// aged makes the text of a key with the age of what it says.
func (p why) aged(key string, age time.Duration, places ...any) aged {
	before, after, _ := strings.Cut(p.T(key, places...), "{ago}")
	return aged{before, Age(age), after}
}

// Presence is what is known of people in the room, and how fresh that is.
func (p why) Presence() aged {
	switch {
	case !p.e.Sensed:
		return aged{p.T("seen.unknown")}
	case p.e.Since.IsZero() || !p.v.ClockTrusted:
		return p.aged("seen."+p.v.Presence, p.e.SensedAgo)
	}
	return p.aged("seen."+p.v.Presence+".since", p.e.SensedAgo, "since", p.clock(p.e.Since))
}

// Proofs are leaf, bolt and light with what says so.
func (p why) Proofs() (all []aged) {
	for _, x := range p.e.Things {
		if x.Offline {
			all = append(all, aged{p.T("proof.none", "what", p.T(x.Name+".unknown"))})
			continue
		}
		source := x.Source
		if key := "source." + x.Source; p.w.Has(key) {
			source = p.T(key)
		}
		all = append(all, p.aged("proof", x.Ago, "what", p.T(x.Name+"."+x.Value), "source", source))
	}
	return all
}

// Room is another room, which is free.
type Room struct {
	Name, Place string
	Capacity    int       // people; 0: not known
	Until       time.Time // zero: for the rest of the day
	Seen        bool      // somebody is in there all the same
}

// rooms is the panel of other rooms.
type rooms struct {
	door
	Rooms []Room
}

// RenderRooms makes the panel of other rooms that are free, the best ones first.
func RenderRooms(v View, all []Room) ([]byte, error) {
	slices.SortStableFunc(all, func(a, b Room) int {
		switch {
		case a.Seen != b.Seen && a.Seen:
			return 1
		case a.Seen != b.Seen:
			return -1
		case a.Until.IsZero() != b.Until.IsZero() && a.Until.IsZero():
			return -1
		case a.Until.IsZero() != b.Until.IsZero():
			return 1
		}
		return b.Until.Compare(a.Until)
	})
	return render("panel-rooms", rooms{newDoor(v), all})
}

// For says until when a room is free, and what else is to know of it.
func (p rooms) For(r Room) string {
	text := p.T("until.none")
	switch {
	case !p.v.ClockTrusted:
		text = ""
	case !r.Until.IsZero() && r.Until.Sub(p.v.Now) <= 12*time.Hour:
		text = p.T("until", "time", p.clock(r.Until))
	}
	if r.Capacity > 0 {
		text += " · " + p.T("people", "count", r.Capacity)
	}
	if r.Seen {
		text += " · " + p.T("rooms.seen")
	}
	return text
}

// Problems are what somebody at the door may report.
var Problems = []string{"screen", "light", "door", "air", "dirt", "furniture", "other"}

// report is the panel that asks what is wrong.
type report struct {
	door
	Choices []Act
}

// RenderReport makes the panel that asks what is wrong.
func RenderReport(v View) ([]byte, error) {
	p := report{door: newDoor(v)}
	for _, what := range Problems {
		p.Choices = append(p.Choices, Act{ID: "report-" + what, Label: p.T("report." + what), Post: "do/report", Body: body(map[string]any{"what": what})})
	}
	return render("panel-report", p)
}

// phone is the panel that leads to one's phone.
type phone struct {
	door
	QR      template.HTML
	Minutes int
}

// RenderPhone makes the panel with a link for one phone, as a QR code.
func RenderPhone(v View, link string, life time.Duration) ([]byte, error) {
	d := newDoor(v)
	code, err := Drawn(link, d.T("phone.alt"))
	if err != nil {
		return nil, err
	}
	return render("panel-phone", phone{d, code, int(life.Minutes())})
}

// Drawn is a link of at most 2953 bytes as a QR code, in SVG; name is for those who cannot
// see it.
func Drawn(link, name string) (template.HTML, error) {
	code, err := qr.New(link)
	if err != nil {
		return "", err
	}
	return template.HTML(code.SVG(template.HTMLEscapeString(name))), nil //nolint:gosec // it is drawn by us
}

// answer is the panel that tells the outcome of a button.
type answer struct {
	door
	Title, Text string
	Wrong       bool
	Rooms       bool // offers to look for another room
	Acts        []Act
}

// The deeds that a door page asks for, as its paths name them.
const (
	DoBook    = "book"
	DoCheckIn = "check-in"
	DoExtend  = "extend"
	DoEnd     = "end"
	DoUndo    = "undo" // takes back what was just booked
	DoReport  = "report"
	DoPhone   = "phone"
)

// RenderDone says that a booking is now what somebody wanted.
func RenderDone(v View, deed string, b booking.Booking) ([]byte, error) {
	d := newDoor(v)
	text := ""
	if v.ClockTrusted && deed != DoReport && deed != DoEnd && deed != DoUndo {
		text = d.clock(b.Start) + " – " + d.clock(b.End)
	}
	a := answer{door: d, Title: d.T("done." + deed), Text: text}
	if deed == DoBook {
		a.Acts = []Act{{ID: "answer-undo", Label: d.T("undo"), Post: "do/undo", Body: body(map[string]any{"booking_id": b.ID})}}
	}
	return render("panel-answer", a)
}

// RenderRefusal says kindly why not, and what is free instead.
func RenderRefusal(v View, e *problem.Error) ([]byte, error) {
	d := newDoor(v)
	a := answer{door: d, Title: d.T("refused"), Text: d.T("refused.other"), Wrong: true}
	key := "refused." + string(e.Code)
	switch {
	case e.Busy != nil:
		a.Title, a.Rooms = d.T("refused.taken"), true
		a.Text = d.T("refused.busy", "from", d.clock(e.Busy.Start), "until", d.end(e.Busy.End))
		if next := v.State.NextAvailable; v.ClockTrusted && !next.IsZero() && next.After(v.Now) {
			a.Text += " " + d.T("refused.next", "time", d.clock(next))
		}
		if !v.ClockTrusted {
			a.Text = ""
		}
	case d.w.Has(key):
		a.Text = d.T(key)
	}
	return render("panel-answer", a)
}

func (d door) end(t time.Time) string {
	if t.IsZero() {
		return d.T("until.open")
	}
	return d.clock(t)
}

// RenderPairRefusal says why a code is not taken.
func RenderPairRefusal(language string, e *problem.Error) []byte {
	w := CatalogueOf(language)
	key := "pair.refused." + string(e.Code)
	if !w.Has(key) {
		key = "pair.refused"
	}
	return []byte(template.HTMLEscapeString(w.T(key)))
}

// Shell is the page before it has read its stream. It holds no secret.
type Shell struct {
	SpaceID, Name string
	Language      string
	Script, Style string
	Build         string
	Scan          template.HTML // the QR code of where a pairing code is made
}

// T is a text, see [Catalogue.T].
func (s Shell) T(key string, places ...any) string { return CatalogueOf(s.Language).T(key, places...) }

// RenderShell makes the page of a room. console is the page on which an administrator
// makes a pairing code for it.
func RenderShell(spaceID, name, language, console string) ([]byte, error) {
	w := CatalogueOf(language)
	scan, err := Drawn(console, w.T("pair.alt"))
	if err != nil {
		return nil, err
	}
	return render("door-shell", Shell{spaceID, name, w.Language, AssetPath("door.js"), AssetPath("door.css"), build(), scan})
}

// RenderNone makes the page of a room that there is not.
func RenderNone() ([]byte, error) { return render("door-none", AssetPath("door.css")) }
