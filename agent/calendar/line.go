package calendar

import (
	"bytes"
	"errors"
	"strings"

	ics "github.com/arran4/golang-ical"
)

const (
	maxLine   = 64 << 10 // bytes of one unfolded line; a year of EXDATEs is 6 KiB
	maxName   = 128      // bytes of a name; no property of interest has a third of that
	maxParams = 64       // separators before the value; the parser takes quadratic time in them
)

// property is one content line: name and parameter names are upper case.
type property struct {
	name   string
	params map[string][]string
	value  string
}

func (p property) param(name string) string {
	if v := p.params[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

var errLine = errors.New("the line is not name:value")

// readProperty understands one unfolded line. The library does the quoting and
// escaping, line by line: given the whole file it gives up on all events for
// one bad character (arran4/golang-ical#151).
func readProperty(line []byte) (property, error) {
	name := nameOf(line)
	if name == "" {
		return property{}, errLine
	}
	if countParams(line) > maxParams {
		return property{}, errors.New("the line has too many parameters")
	}
	upper := name + string(line[len(name):])
	base, err := ics.ParseProperty(ics.ContentLine(upper))
	if err != nil {
		return property{}, err
	}
	if base == nil {
		return property{}, errLine
	}
	p := property{name: name, value: base.Value, params: base.ICalParameters}
	for key, v := range p.params {
		if up := strings.ToUpper(key); up != key {
			delete(p.params, key)
			p.params[up] = v
		}
	}
	mendColon(&p, upper)
	return p, nil
}

// mendColon repairs TZID=(UTC+01:00) Berlin:20240102T100000, which Outlook
// wrote without the quotes that the colon needs.
func mendColon(p *property, line string) {
	tzid := p.param("TZID")
	if !strings.HasPrefix(tzid, "(") || strings.Contains(tzid, ")") {
		return
	}
	start := strings.Index(strings.ToUpper(line), "TZID=(")
	end := strings.LastIndexByte(line, ':')
	if start < 0 || end < start+len("TZID=") {
		return
	}
	p.params["TZID"] = []string{ics.FromText(line[start+len("TZID=") : end])}
	p.value = line[end+1:]
}

// nameOf is the upper-case name of a content line, empty if it has none.
func nameOf(line []byte) string {
	for i, c := range line {
		switch {
		case c == ':' || c == ';':
			return strings.ToUpper(string(line[:i]))
		case c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		default:
			return ""
		}
	}
	return ""
}

// countParams counts what separates parameters and their values before the
// value itself begins.
func countParams(line []byte) int {
	n, quoted := 0, false
	for _, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ':':
			return n
		case c == ';' || c == ',':
			n++
		}
	}
	return n
}

// caret undoes RFC 6868, the only escaping that parameter values have.
var caret = strings.NewReplacer("^^", "^", "^n", "\n", "^N", "\n", "^'", `"`)

// lines cuts a stream into unfolded lines (RFC 5545, 3.1); CRLF and LF both
// end one. Empty lines do not appear.
type lines struct {
	rest []byte
}

// next returns the next line; keep decides from its name whether a folded
// line is put together. cut is true if the line was longer than maxLine.
func (l *lines) next(keep func(line []byte) bool) (line []byte, cut, ok bool) {
	for len(line) == 0 {
		if len(l.rest) == 0 {
			return nil, false, false
		}
		line = l.physical()
	}
	if !l.folded() {
		return line, len(line) > maxLine, true
	}
	joined := false
	for l.folded() && len(line) < maxName && !bytes.ContainsAny(line, ":;") { // it is folded in its name
		line, joined = append(bytes.Clone(line), l.physical()[1:]...), true
	}
	wanted := keep(line)
	for l.folded() {
		more := l.physical()[1:]
		if !wanted || len(line)+len(more) > maxLine {
			cut = cut || wanted
			continue
		}
		if !joined {
			line, joined = bytes.Clone(line), true
		}
		line = append(line, more...)
	}
	return line, cut || len(line) > maxLine, true
}

func (l *lines) folded() bool {
	return len(l.rest) > 0 && (l.rest[0] == ' ' || l.rest[0] == '\t')
}

func (l *lines) physical() []byte {
	line := l.rest
	if i := bytes.IndexByte(l.rest, '\n'); i >= 0 {
		line, l.rest = l.rest[:i], l.rest[i+1:]
	} else {
		l.rest = nil
	}
	// A lone CR is no line end, but it must not get into a value.
	return bytes.TrimRight(line, "\r")
}
