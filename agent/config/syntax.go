package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

var (
	quoted = regexp.MustCompile(`'[^']*'`)
	// tight is a dash or a key without the blank that makes it one.
	tight = regexp.MustCompile(`^\s*-[a-z0-9_]+:|^[\s-]*[a-z0-9_]+:[^\s/]`)
	// dashed is a line that begins an item of a list, keyed what stands before a value.
	dashed = regexp.MustCompile(`^\s*- `)
	keyed  = regexp.MustCompile(`([a-z0-9_]+):(?:\s|$)`)
	// closed is a line up to the end of a value in quotes.
	closed = regexp.MustCompile(`(?:^|[:,\s-])\s*("[^"]*"|'[^']*')\s*$`)
)

// slip is one of the commonest mistakes, which the YAML parser knows by what it
// expected instead. One that begins where something was opened is told there.
type slip struct {
	parser, people string
	where          bool
}

var slips = []slip{
	{"found character that cannot start any token", "no value starts so: put a text in quotes, and indent with spaces, not with tabs", false},
	{"found a tab character", "a tab is here: indent with spaces", false},
	{"did not find expected '-' indicator", "this line is no item of the list above and no key of its last item: every device, space and user starts with \"- \" on a line of its own, and its other keys begin in the column behind that", false},
	{"did not find expected key", "this line fits no key above: begin it in the column of its neighbours", false},
	{"mapping values are not allowed in this context", "no key can stand here: begin it in the column of its neighbours, end the key above with a colon, and put a text with a colon in quotes", false},
	{"did not find expected ',' or ']'", "a [ is not closed: want , or ] here", false},
	{"did not find expected ',' or '}'", "a { is not closed: want , or } here", false},
	{"could not find expected ':'", "this is no key: want a colon and a blank behind its name, as name: Atlas", true},
	{"found unexpected end of stream", "a quote is not closed", true},
	{"found unknown escape character", `a \ in "..." begins an escape: put the text in '...' instead`, false},
	{"block sequence entries are not allowed in this context", "no list can begin here: begin each of its items with \"- \" on a line of its own", false},
	{"unknown anchor", "a value starts with *: put a text that starts so in quotes", false},
}

// syntax notes what the YAML parser refuses. The end of the file is no mistake: an
// empty file is all defaults.
func (r *reader) syntax(text []byte, err error) {
	if errors.Is(err, io.EOF) {
		return
	}
	at, message := Origin{Name: r.file}, err.Error()
	if line, column, said := undashed(text); line > 0 {
		r.add(Origin{r.file, line, column}, "", "not YAML: "+said)
		return
	}
	var e *yaml.LoadError
	if errors.As(err, &e) {
		at, message = r.slip(text, e)
	}
	r.add(at, "", "not YAML: "+message)
}

// slip says what was probably meant, and where. A text of the file is not repeated: it
// may be half of a password.
func (r *reader) slip(text []byte, e *yaml.LoadError) (at Origin, message string) {
	at = Origin{r.file, e.Mark.Line, e.Mark.Column}
	for _, s := range slips {
		if !strings.HasPrefix(e.Message, s.parser) {
			continue
		}
		if s.where && e.ContextMark.Line > 0 {
			at.Line, at.Column = e.ContextMark.Line, e.ContextMark.Column
		}
		if line, column := hashed(text, e.ContextMark.Line, e.Mark.Line); strings.HasSuffix(s.people, " here") && line > 0 {
			at.Line, at.Column = line, column
			return at, "the bracket before this is not closed, and what follows # is a comment: close it, or put a text with # in quotes"
		}
		for _, line := range []int{at.Line, at.Line - 1} {
			if tight.Match(lineOf(text, line)) {
				at.Line, at.Column = line, 1
				return at, "a blank is missing: want one behind the dash and one behind the colon, as \"- name: Atlas\""
			}
		}
		message = nearer(text, e, s.people)
		return at, message + neighbour(text, at.Line, message)
	}
	message = quoted.ReplaceAllString(e.Message, "of that name")
	if e.ContextMsg != "" {
		message += " " + e.ContextMsg
	}
	return at, message
}

// nearer is a nearer cause than the one that the parser saw: a value in quotes that goes on behind
// them, or one without quotes that has a colon in it.
func nearer(text []byte, e *yaml.LoadError, seen string) string {
	line := lineOf(text, e.Mark.Line)
	switch before := line[:min(max(e.Mark.Column-1, 0), len(line))]; {
	case len(before) < len(line) && closed.Match(before):
		return "a value in quotes ends before this: put all of it into one pair of quotes, and one that has \" in it into '...'"
	case len(before) < len(line) && line[len(before)] == '\t':
		return "a tab is here: indent with spaces"
	case strings.HasPrefix(seen, "a { is not closed") && e.ContextMark.Line == e.Mark.Line:
		return "a text with a colon, a comma or a bracket in it is not in quotes, or a { is not closed: want , or } here"
	}
	return seen
}

// neighbour is where the line above begins, for who has to begin one in its column.
func neighbour(text []byte, line int, seen string) string {
	indented := strings.Contains(seen, "the column of its neighbours")
	if dashed.Match(lineOf(text, line)) && (indented || strings.Contains(seen, "no item of the list")) {
		return sibling(text, line)
	}
	if !indented {
		return ""
	}
	for line--; line > 0; line-- {
		above := lineOf(text, line)
		bare := bytes.TrimLeft(above, " -")
		if len(bare) > 0 && bare[0] != '#' {
			return fmt.Sprintf(" (line %d begins in column %d)", line, len(above)-len(bare)+1)
		}
	}
	return ""
}

// sibling is where the dash of the item above begins that is most like the one of a line, and of those
// the one that is nearest to its column: a device is no sibling of its space.
func sibling(text []byte, line int) string {
	own, column := itemKeys(text, line), dashOf(text, line)
	best, alike, away := 0, -1, 0
	for above := line - 1; above > 0; above-- {
		if !dashed.Match(lineOf(text, above)) {
			continue
		}
		same := 0
		for key := range itemKeys(text, above) {
			if own[key] {
				same++
			}
		}
		if far := max(column, dashOf(text, above)) - min(column, dashOf(text, above)); same > alike || same == alike && far < away {
			best, alike, away = above, same, far
		}
	}
	if best == 0 {
		return ""
	}
	return fmt.Sprintf(" (the dash of line %d is in column %d)", best, dashOf(text, best))
}

// dashOf is the column of the dash with which a line begins.
func dashOf(text []byte, line int) int { return bytes.IndexByte(lineOf(text, line), '-') + 1 }

// itemKeys are the keys of the item that begins in a line, up to the next dash.
func itemKeys(text []byte, line int) map[string]bool {
	keys := map[string]bool{}
	for first := line; line == first || lineOf(text, line) != nil && !dashed.Match(lineOf(text, line)); line++ {
		for _, found := range keyed.FindAllSubmatch(lineOf(text, line), -1) {
			keys[string(found[1])] = true
		}
	}
	return keys
}

// hashed is the first # between two lines that begins a comment, line 0: there is none.
func hashed(text []byte, from, to int) (line, column int) {
	for line = max(from, 1); line <= to; line++ {
		if i := bytes.Index(lineOf(text, line), []byte(" #")); i >= 0 {
			return line, i + 2
		}
	}
	return 0, 0
}

// lineOf is a line of a text, from 1; empty where there is none.
func lineOf(text []byte, number int) []byte {
	lines := bytes.Split(text, []byte("\n"))
	if number < 1 || number > len(lines) {
		return nil
	}
	return lines[number-1]
}
