package api

import (
	"bytes"
	"strings"
	"time"

	"roomgate/agent/eventlog"
)

// moment is a time as the platform writes it: UTC with milliseconds, null if
// there is none.
type moment time.Time

const momentLayout = eventlog.TimeLayout

// MarshalJSON writes the moment. It leaves out fractions of a millisecond.
func (m moment) MarshalJSON() ([]byte, error) {
	if time.Time(m).IsZero() {
		return []byte("null"), nil
	}
	b := append(make([]byte, 0, len(`""`)+len(momentLayout)), '"')
	return append(eventlog.AppendStamp(b, time.Time(m)), '"'), nil
}

// uniformTimes writes the times of an answer in the one form that the platform has:
// UTC, with milliseconds. The records of nouns are encoded as they are stored, where
// a whole second has no fraction and a quarter of one two digits.
func uniformTimes(answer []byte) []byte {
	var out []byte // nil: nothing differs so far
	done, from := 0, 0
	for {
		at := bytes.IndexByte(answer[from:], 'T') // between date and time of day, and seldom elsewhere
		if at < 0 {
			break
		}
		begin := from + at - len("2006-01-02")
		from += at + 1
		if begin < 0 || !beginsTime(answer[:begin]) {
			continue
		}
		size := bytes.IndexByte(answer[begin:], '"')
		if size < 0 {
			break
		}
		if t, other := otherForm(answer[begin : begin+size]); other {
			out = append(out, answer[done:begin]...)
			out = eventlog.AppendStamp(out, t)
			done = begin + size
		}
	}
	if out == nil {
		return answer
	}
	return append(out, answer[done:]...)
}

// beginsTime says whether the value of a member that times have begins behind this. In the text of
// a value a quote has a backslash before it.
func beginsTime(before []byte) bool {
	name, found := bytes.CutSuffix(before, []byte(`":"`))
	return found && isTimeName(name)
}

// isTimeName says whether what ends with a member's name, without the quote behind it,
// ends with one that times have. Texts of people have others.
func isTimeName(before []byte) bool {
	name := string(before[bytes.LastIndexByte(before, '"')+1:])
	switch name {
	case "at", "now", "time", "timestamp", "from", "until", "since":
		return true
	}
	return strings.HasSuffix(name, "_at") || strings.HasSuffix(name, "_until") || strings.HasSuffix(name, "_from") || strings.HasSuffix(name, "_time")
}

// otherForm reads a time that is not in the form.
func otherForm(text []byte) (t time.Time, other bool) {
	if len(text) < len("2006-01-02T15:04:05Z") || text[4] != '-' || text[10] != 'T' || len(text) == len(momentLayout) && text[19] == '.' && text[23] == 'Z' {
		return t, false
	}
	err := t.UnmarshalText(text)
	return t.UTC(), err == nil
}
