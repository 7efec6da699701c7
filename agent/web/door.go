package web

import (
	"bytes"
	"embed"
	"html/template"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"roomgate/agent/booking"
	"roomgate/agent/printable"
)

//go:embed page
var pageFiles embed.FS

var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").ParseFS(pageFiles, "page/*.html"))
})

// Head is what the script of a page has to know of a frame.
type Head struct {
	State string `json:"state"`
	Theme string `json:"theme"`
	Title string `json:"title"` // of the window
	// Build is that of the script and the stylesheet: a page of another one loads again.
	Build string `json:"build"`
}

// door is a view as its templates see it.
type door struct {
	v View
	w *Catalogue
}

// doorParts are the regions of a door page, by the ids of their elements.
var doorParts = []string{"top", "status", "now", "day", "acts", "more", "notice", "lost", "live"}

// RenderDoor makes the regions of a door page.
func RenderDoor(v View) (parts []Part, head any, err error) {
	d := newDoor(v)
	for _, name := range doorParts {
		html, err := render("door-"+name, d)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, Part{name, html})
	}
	return parts, Head{v.state(), v.theme(), v.Name + ": " + d.Word(), build()}, nil
}

func newDoor(v View) door { return door{v, CatalogueOf(v.Look.Language)} }

// render executes a template.
func render(name string, data any) ([]byte, error) {
	var out bytes.Buffer
	if err := pages().ExecuteTemplate(&out, name, data); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// T is a text, see [Catalogue.T].
func (d door) T(key string, places ...any) string { return d.w.T(key, places...) }

func (d door) clock(t time.Time) string {
	local := t.In(d.v.Now.Location())
	text := Clock(local, d.v.Look.Twelve)
	if local.YearDay() != d.v.Now.YearDay() || local.Year() != d.v.Now.Year() {
		text = d.w.Weekday(local) + " " + text
	}
	return text
}

// What the templates ask.

// Name is the room's.
func (d door) Name() string { return d.v.Name }

// Place is where the room is.
func (d door) Place() string { return d.v.Place }

// State is the page's.
func (d door) State() string { return d.v.state() }

// Trusted says whether times may be shown.
func (d door) Trusted() bool { return d.v.ClockTrusted }

// Clock is the time now.
func (d door) Clock() string { return Clock(d.v.Now, d.v.Look.Twelve) }

// Date is the day now.
func (d door) Date() string { return d.w.Date(d.v.Now) }

// Word is the state in a word.
func (d door) Word() string {
	if d.v.state() == stateDisabled && d.v.Hold == nil && !d.v.State.NextAvailable.IsZero() {
		return d.T("state.closed")
	}
	return d.T("state." + d.v.state())
}

// Long says that the word needs smaller letters.
func (d door) Long() bool { return utf8.RuneCountInString(d.Word()) > 8 }

// Until says until when the state holds, and Left how long that is. Neither is
// said by a clock that is not trusted.
func (d door) Until() string {
	at := d.v.until()
	switch {
	case !d.v.ClockTrusted:
		return ""
	case at.IsZero() && d.v.state() == stateFree:
		return d.T("until.none")
	case at.IsZero():
		return ""
	case d.v.state() == stateReserved && d.v.Hold == nil:
		return d.T("starts", "time", d.clock(at))
	case d.v.state() == stateCheckIn:
		if by, ok := d.v.State.Current.ReleaseAt(d.v.Rules); ok {
			return d.T("checkin.by", "time", d.clock(by))
		}
	case d.v.state() == stateDisabled && d.v.Hold == nil:
		return d.T("opens", "time", d.clock(at))
	case d.v.state() == stateFree && at.Sub(d.v.Now) > 12*time.Hour:
		return d.T("until.none")
	case d.v.state() == stateEnding:
		return d.T("ending.at", "time", d.clock(at))
	}
	return d.T("until", "time", d.clock(at))
}

// Left is how long until then.
func (d door) Left() string {
	at := d.v.until()
	if d.v.state() == stateCheckIn {
		at, _ = d.v.State.Current.ReleaseAt(d.v.Rules)
	}
	if left := at.Sub(d.v.Now).Truncate(time.Minute); d.v.ClockTrusted && !at.IsZero() && left > 0 && left <= 12*time.Hour {
		if d.v.Hold == nil && (d.v.state() == stateReserved || d.v.state() == stateDisabled) {
			return d.T("in", "length", Length(left))
		}
		if d.v.state() == stateCheckIn {
			return d.T("checkin.left", "length", Length(left))
		}
		return d.T("left", "length", Length(left))
	}
	return ""
}

// Meeting is a booking as the door tells of it.
type Meeting struct {
	Title     string // never empty
	Organizer string // empty: it is not told
	Times     string // empty: the clock is not trusted
}

// plain is what somebody wrote without the marks that turn a text around (Unicode
// Bidirectional Algorithm, section 2), which would reach the text beside it.
func plain(text string) string { return strings.TrimSpace(printable.Clean(text)) }

func (d door) tell(b *booking.Booking) *Meeting {
	if b == nil {
		return nil
	}
	m := &Meeting{Title: d.T("meeting")}
	switch {
	case b.Private:
		m.Title = d.T("private")
	default:
		if b.Source == booking.WalkUp {
			m.Title = d.T("walkup")
		}
		if !d.v.ShowTitles {
			break
		}
		m.Organizer = plain(b.Organizer.Name)
		if title := plain(b.Title); title != "" {
			m.Title = title
		}
	}
	if d.v.ClockTrusted {
		m.Times = d.clock(b.Start) + " – " + d.clock(b.End)
	}
	return m
}

// Meeting is that of now, and Next the one after it.
func (d door) Meeting() *Meeting { return d.tell(d.v.meeting()) }

// Ahead says that nobody is in the meeting of now yet.
func (d door) Ahead() bool { return d.v.inside() == nil && d.v.meeting() != nil }

// Next is the meeting after that.
func (d door) Next() *Meeting {
	if !d.v.ClockTrusted {
		return nil
	}
	return d.tell(d.v.next())
}

// Acts are what may be done now.
func (d door) Acts() []Act { return d.acts() }

// Lead is what those of them say together that name but a length.
func (d door) Lead() string {
	for _, a := range d.acts() {
		if a.Lead != "" {
			return d.T(strings.TrimPrefix(a.Post, "do/"))
		}
	}
	return ""
}

// More are the buttons of every state.
func (d door) More() []Act { return d.more() }

// Note is why somebody has set the room to a state.
func (d door) Note() string {
	if d.v.Hold == nil {
		return ""
	}
	return d.v.Hold.Note
}

// Cloud is the honest line about the cloud's absence; empty: it is there.
func (d door) Cloud() string {
	switch {
	case d.v.CloudAway.IsZero():
		return ""
	case !d.v.ClockTrusted:
		return d.T("cloud.away.untimed")
	}
	return d.T("cloud.away", "now", d.Clock(), "since", d.clock(d.v.CloudAway))
}

// Things are what leaf, bolt and light are like, in few words.
func (d door) Things() (all []string) {
	for _, x := range []struct {
		name string
		of   *Device
	}{{"door", d.v.Leaf}, {"lock", d.v.Lock}, {"light", d.v.Light}} {
		if x.of == nil {
			continue
		}
		what := x.of.Value
		if x.of.Offline {
			what = "unknown"
		}
		all = append(all, d.T(x.name+"."+what))
	}
	return all
}

// Lost is what the page says by itself once it hears nothing any more: before and after
// the age, which it adds.
func (d door) Lost() []string {
	text := d.T("lost", "time", d.Clock())
	if !d.v.ClockTrusted {
		text = d.T("lost.untimed")
	}
	before, after, _ := strings.Cut(text, "{age}")
	return []string{before, after}
}
