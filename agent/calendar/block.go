package calendar

import (
	"bytes"
	"strings"
)

// block is one component of a calendar with the lines that matter here.
type block struct {
	name   string
	method string // METHOD of the calendar around it
	lines  [][]byte
	cut    string   // name of a property that was longer than maxLine
	inner  []*block // STANDARD and DAYLIGHT of a VTIMEZONE
}

func (b *block) reset(name, method string) {
	*b = block{name: name, method: method, lines: b.lines[:0]}
}

// wanted are the properties that decide when a room is used, and by whom. The
// rest (descriptions, attachments) is the bulk of a feed and never copied.
var wanted = map[string]bool{
	"UID": true, "DTSTART": true, "DTEND": true, "DURATION": true,
	"RRULE": true, "RDATE": true, "EXDATE": true, "EXRULE": true, "RECURRENCE-ID": true,
	"SUMMARY": true, "STATUS": true, "TRANSP": true, "CLASS": true, "ORGANIZER": true,
	"SEQUENCE": true, "DTSTAMP": true, "LAST-MODIFIED": true,
	"X-MICROSOFT-CDO-BUSYSTATUS": true, "X-MICROSOFT-CDO-ALLDAYEVENT": true,
	"TZID": true, "TZOFFSETFROM": true, "TZOFFSETTO": true, "X-LIC-LOCATION": true,
	"METHOD": true, "BEGIN": true, "END": true,
}

// scanner finds the components of one name in a stream. It trusts nothing:
// blocks that do not end, ends without a beginning and blocks in blocks are
// skipped without recursion.
type scanner struct {
	want    string
	emit    func(*block) error
	problem func(string)
	endless func(*block) // told of a component that never ended; nil: nobody is

	calendar  bool // inside VCALENDAR
	seen      bool // one VCALENDAR began
	component string
	depth     int // blocks open inside the component
	method    string
	current   block
}

// scan calls emit for each component called want. The block is valid until
// emit returns.
func scan(body []byte, want string, problem func(string), emit func(*block) error) error {
	s := scanner{want: want, emit: emit, problem: problem}
	return s.scan(body)
}

func (s *scanner) scan(body []byte) error {
	in := lines{rest: body}
	keep := func(line []byte) bool { return wanted[nameOf(line)] }
	for {
		line, cut, ok := in.next(keep)
		if !ok {
			break
		}
		if err := s.line(line, cut); err != nil {
			return err
		}
	}
	switch {
	case !s.seen:
		return notCalendar(body)
	case s.calendar:
		return ErrCutOff
	}
	return nil
}

func (s *scanner) line(line []byte, cut bool) error {
	name := nameOf(line)
	switch name {
	case "BEGIN":
		return s.begin(blockName(line))
	case "END":
		return s.end(blockName(line))
	}
	switch {
	case !s.seen:
		return notCalendar(line)
	case !s.calendar || !wanted[name]:
	case s.component == "":
		if name == "METHOD" {
			s.method = blockName(line)
		}
	case s.component == s.want:
		s.keep(name, line, cut)
	}
	return nil
}

// keep stores a line of the component, or of the block directly inside it: a
// VTIMEZONE's rules matter, an event's alarms do not.
func (s *scanner) keep(name string, line []byte, cut bool) {
	b := &s.current
	switch {
	case s.depth > 1, s.depth == 1 && len(b.inner) == 0:
		return
	case s.depth == 1:
		b = b.inner[len(b.inner)-1]
	}
	if cut {
		b.cut = name
		return
	}
	b.lines = append(b.lines, line)
}

func (s *scanner) begin(name string) error {
	switch {
	case !s.calendar:
		if name == "VCALENDAR" {
			s.calendar, s.seen, s.method = true, true, ""
		} else if !s.seen {
			return ErrNotCalendar
		}
	case s.component == "":
		s.open(name)
	case name == "VEVENT" || name == "VTIMEZONE" || name == "VCALENDAR":
		s.lost()
		if name != "VCALENDAR" {
			s.open(name)
		}
	default:
		s.depth++
		if s.depth == 1 && s.want == "VTIMEZONE" && s.component == s.want {
			s.current.inner = append(s.current.inner, &block{name: name})
		}
	}
	return nil
}

func (s *scanner) open(name string) {
	s.component, s.depth = name, 0
	if name == s.want {
		s.current.reset(name, s.method)
	}
}

func (s *scanner) end(name string) error {
	switch {
	case name == "VCALENDAR":
		s.lost()
		s.calendar = false
	case name == s.component && s.component != "":
		s.component = ""
		if name == s.want {
			return s.emit(&s.current)
		}
	case s.depth > 0:
		s.depth--
	}
	return nil
}

// lost says that a component of interest never ended.
func (s *scanner) lost() {
	if s.component != "" && s.component == s.want {
		s.problem("a " + strings.ToLower(s.want) + " has no end and was left out")
		if s.endless != nil {
			s.endless(&s.current)
		}
	}
	s.component = ""
}

// blockName is the value of a BEGIN or END line in upper case.
func blockName(line []byte) string {
	_, value, _ := bytes.Cut(line, []byte(":"))
	return strings.ToUpper(string(bytes.TrimSpace(value)))
}
