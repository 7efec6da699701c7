package calendar

import (
	"bytes"
	"errors"
	"strings"
)

const (
	maxLine   = 64 << 10 // bytes of one unfolded line; a year of EXDATEs is 6 KiB
	maxName   = 128      // bytes of a name; no property of interest has a third of that
	maxParams = 64       // values of parameters in one line
)

// property is one content line: name and parameter names are upper case.
type property struct {
	name   string
	params map[string]string // the first value of each
	value  string            // as written: a TEXT is still escaped
}

func (p property) param(name string) string { return p.params[name] }

// text is the value of a property of type TEXT.
func (p property) text() string {
	if !strings.Contains(p.value, `\`) { // Replace copies
		return strings.TrimSpace(p.value)
	}
	return strings.TrimSpace(unescapeText.Replace(p.value))
}

// What TEXT values escape (RFC 5545, 3.3.11).
var (
	escapeText   = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `;`, `\;`, `,`, `\,`)
	unescapeText = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\N`, "\n", `\;`, `;`, `\,`, `,`)
)

var (
	errLine   = errors.New("the line is not name:value")
	errParam  = errors.New("the line has a parameter that is not name=value")
	errParams = errors.New("the line has too many parameters")
)

// readProperty understands one unfolded line (RFC 5545, 3.1). It passes over
// what stands before the name of a parameter and belongs to no name: the
// second of two semicolons, or a space that was left behind by folding.
func readProperty(line []byte) (property, error) {
	p := property{name: nameOf(line)}
	if p.name == "" {
		return property{}, errLine
	}
	rest := line[len(p.name):]
	for n := 0; rest[0] == ';'; {
		rest = bytes.TrimLeftFunc(rest, notName)
		key := nameBefore(rest, "=")
		if key == "" {
			return property{}, errParam
		}
		rest = rest[len(key):]
		for more := true; more; more = rest[0] == ',' {
			if n++; n > maxParams {
				return property{}, errParams
			}
			var value string
			var ok bool
			if value, rest, ok = readParam(rest[1:]); !ok {
				return property{}, errParam
			}
			p.setParam(key, value)
		}
	}
	if rest[0] != ':' {
		return property{}, errLine
	}
	p.value = string(rest[1:])
	p.mendColon(line)
	return p, nil
}

func (p *property) setParam(key, value string) {
	if p.params == nil {
		p.params = map[string]string{}
	}
	if _, there := p.params[key]; !there {
		p.params[key] = value
	}
}

// readParam reads one value of a parameter; rest begins with the character
// that ended it. A backslash lets the next character stand for itself: the RFC
// knows no such escape, but programs write it. ok is false if the value holds
// what it may not, or if nothing is behind it.
func readParam(s []byte) (value string, rest []byte, ok bool) {
	s, quoted := bytes.CutPrefix(s, []byte(`"`))
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"':
			return b.String(), s[i+1:], quoted && i+1 < len(s)
		case !quoted && (c == ':' || c == ';' || c == ','):
			return b.String(), s[i:], true
		case c < ' ' && c != '\t':
			return "", nil, false
		case c == '\\' && i+1 < len(s):
			i++
			c = s[i]
		}
		b.WriteByte(c)
	}
	return "", nil, false
}

// mendColon repairs TZID=(UTC+01:00) Berlin:20240102T100000, which Outlook
// wrote without the quotes that the colon needs.
func (p *property) mendColon(line []byte) {
	tzid := p.param("TZID")
	if !strings.HasPrefix(tzid, "(") || strings.Contains(tzid, ")") {
		return
	}
	start := bytes.Index(bytes.ToUpper(line), []byte("TZID=("))
	end := bytes.LastIndexByte(line, ':')
	if start < 0 || end < start+len("TZID=") {
		return
	}
	p.params["TZID"] = unescapeText.Replace(string(line[start+len("TZID=") : end]))
	p.value = string(line[end+1:])
}

// nameOf is the upper-case name of a content line, empty if it has none.
func nameOf(line []byte) string { return nameBefore(line, ":;") }

// nameBefore is the upper-case name that one of the characters in ends
// follows, empty if there is none.
func nameBefore(s []byte, ends string) string {
	for i, c := range s {
		if !notName(rune(c)) {
			continue
		}
		if strings.IndexByte(ends, c) < 0 {
			break
		}
		return strings.ToUpper(string(s[:i]))
	}
	return ""
}

func notName(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
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
