// Package printable says which text people may be shown. A control character (C0, C1: ECMA-48
// section 8.3) steers the terminal that shows it, and a mark of direction (Unicode Standard
// Annex 9) lets a text show as another, also the text beside it. Text of clients is refused
// with one, and text read of others loses them.
package printable

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden says whether a character is seen by nobody and changes what is seen: a control
// character, or one that turns the direction of text.
func Hidden(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// Line says whether s is text on one line, in UTF-8 and without hidden characters. An empty
// text is.
func Line(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, Hidden) }

// Lines is Line of a text that may have several lines, and tabs.
func Lines(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return Hidden(r) && !layout(r) })
}

// layout says whether a control character only says where text stands.
func layout(r rune) bool { return r == '\n' || r == '\t' || r == '\r' }

// Clean is s without hidden characters.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if Hidden(r) {
			return -1
		}
		return r
	}, s)
}

// Cut is text, or as much of it as fits into so many bytes: cut between two characters, with
// mark behind it.
func Cut(text string, most int, mark string) string {
	if len(text) <= most {
		return text
	}
	n := max(most-len(mark), 0)
	for least := max(n-utf8.UTFMax, 0); n > least && !utf8.RuneStart(text[n]); { // text that is no UTF-8 has no such place
		n--
	}
	return text[:n] + mark
}

// Misleads says whether a hidden character is above ASCII: what writes controls of C0 in its
// own way, as JSON does, has these left.
func Misleads(r rune) bool { return r > unicode.MaxASCII && Hidden(r) }

// JSON names the first text of a valid JSON value that is not Lines, as spaces[0].name; the
// name of a member counts as text of its object. ok: there is none.
func JSON(data []byte) (field string, ok bool) {
	if plain(data) || !bytes.ContainsFunc(data, func(r rune) bool { return r == '\\' || r == 0x7f || Misleads(r) }) {
		return "", true
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var path path
	for {
		token, err := d.Token()
		if err != nil {
			return "", errors.Is(err, io.EOF)
		}
		at := path.take(token)
		if text, isText := token.(string); isText && !Lines(text) {
			return at, false
		}
	}
}

// plain says whether data is ASCII without an escape and without DEL, as most requests are: a look at its bytes is enough.
func plain(data []byte) bool {
	const del = 0x7f
	return isASCII(data) && bytes.IndexByte(data, '\\') < 0 && bytes.IndexByte(data, del) < 0
}

// isASCII looks at eight bytes at one time, of which none has its highest bit.
func isASCII(data []byte) bool {
	const highest = 0x8080808080808080
	for ; len(data) >= 8; data = data[8:] {
		if binary.NativeEndian.Uint64(data)&highest != 0 {
			return false
		}
	}
	for _, b := range data {
		if b > unicode.MaxASCII {
			return false
		}
	}
	return true
}

// path is where a reader of JSON is: the objects and arrays around, the outermost first.
type path []place

type place struct {
	name  string // of the object or array, as spaces[0]
	array bool
	items int    // of an array
	key   string // of the member
	keyed bool   // its value comes next
}

// take goes on by one token, and returns the name of what the token is in or is.
func (p *path) take(token json.Token) string {
	delim, _ := token.(json.Delim)
	if delim == ']' || delim == '}' {
		*p = (*p)[:len(*p)-1]
		return ""
	}
	at := ""
	if len(*p) > 0 {
		var key bool
		if at, key = (&(*p)[len(*p)-1]).next(token); key {
			return at
		}
	}
	if delim != 0 {
		*p = append(*p, place{name: at, array: delim == '['})
	}
	return at
}

// next is the name of the value that a token begins; key: it is the name of a member.
func (in *place) next(token json.Token) (name string, key bool) {
	if in.array {
		in.items++
		return in.name + "[" + strconv.Itoa(in.items-1) + "]", false
	}
	if text, isText := token.(string); isText && !in.keyed {
		in.keyed, in.key = true, strings.TrimPrefix(in.name+"."+text, ".")
		return in.name, true
	}
	in.keyed = false
	return in.key, false
}
