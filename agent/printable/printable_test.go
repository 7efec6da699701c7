package printable

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		text        string
		line, lines bool
		clean       string
	}{
		{"", true, true, ""},
		{"Besprechung für Ærø, 会議 🚪", true, true, "Besprechung für Ærø, 会議 🚪"},
		{"two\nlines\tand\r\n", false, true, "twolinesand"},
		{"\x1b[2Jwiped", false, false, "[2Jwiped"},
		{"bell\a", false, false, "bell"},
		{"del\x7f", false, false, "del"},
		{"c1\u009b2J", false, false, "c12J"},
		{"\u202eevil", false, false, "evil"},
		{"\u2066isolated\u2069", false, false, "isolated"},
		{"mark\u200f\u200e\u061c", false, false, "mark"},
		{"no\u200djoiner", true, true, "no\u200djoiner"}, // emoji and Indic scripts need it
	} {
		if Line(c.text) != c.line || Lines(c.text) != c.lines || Clean(c.text) != c.clean {
			t.Errorf("%q: a line %v, lines %v, clean %q", c.text, Line(c.text), Lines(c.text), Clean(c.text))
		}
	}
	if Line("\xff") || Lines("\xff") {
		t.Error("what is no UTF-8 is text")
	}
	if Misleads('\x1b') || Misleads('a') || !Misleads('\u009b') || !Misleads('\u202e') {
		t.Error("what misleads is hidden and above ASCII")
	}
}

func TestJSON(t *testing.T) {
	for _, c := range []struct{ data, field string }{
		{`{"a":"plain","b":[1,true,null,"Ærø \n \"x\" 😀"]}`, "none"},
		{`{}`, "none"},
		{`"\u202e"`, ""},
		{`["a","\u009b"]`, "[1]"},
		{`{"name":"a` + "\u202e" + `b"}`, "name"},
		{`{"name":"a` + "\x7f" + `b"}`, "name"},
		{`{"n":{},"spaces":[{"id":"x"},{"id":"y","name":"\u001b[2J"}]}`, "spaces[1].name"},
		{`{"a":{"b":{"c":["x",["y","\u2066"]]}}}`, "a.b.c[1][1]"},
		{`{"a":[[],{}],"b":{"c":1},"d":"\u200e"}`, "d"},
		{`{"a":{"\u202e":1}}`, "a"},
		{`{"":"x","b":"\u202e"}`, "b"},
	} {
		field, ok := JSON([]byte(c.data))
		if ok != (c.field == "none") || !ok && field != c.field {
			t.Errorf("%s: %q, %v, want %s", c.data, field, ok, c.field)
		}
	}
}

// TestPlainLooksAtEachByte: one byte that is not plain is found wherever it stands.
func TestPlainLooksAtEachByte(t *testing.T) {
	for size := range 40 {
		data := bytes.Repeat([]byte("a"), size)
		if !plain(data) {
			t.Errorf("%d plain bytes are not", size)
		}
		for at := range data {
			for _, other := range []byte{'\\', 0x7f, 0x80, 0xff} {
				data[at] = other
				if plain(data) {
					t.Errorf("%#x at %d of %d is plain", other, at, size)
				}
			}
			data[at] = 'a'
		}
	}
}

// FuzzJSON: what JSON takes has no hidden character in any text.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a":["\u202e",{"":"x"}]}`, `[[[]],{"":{"":1}}]`, `"\u0000"`, "{\"a\":\"\u009b\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if json.Unmarshal(data, &v) != nil {
			return
		}
		if _, ok := JSON(data); ok && !shown(v) {
			t.Errorf("%q: taken %v", data, ok)
		}
	})
}

// shown says whether every text of a value is Lines.
func shown(v any) bool {
	ok := true
	switch v := v.(type) {
	case string:
		return Lines(v)
	case []any:
		for _, item := range v {
			ok = ok && shown(item)
		}
	case map[string]any:
		for name, item := range v {
			ok = ok && Lines(name) && shown(item)
		}
	}
	return ok
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		mark string
		want string
	}{
		{"", 0, "", ""},
		{"Aurora", 6, "...", "Aurora"},
		{"Aurora", 5, "...", "Au..."},
		{"Aurora", 5, "", "Auror"},
		{"Größe", 4, "", "Grö"},
		{"Größe", 3, "", "Gr"}, // not in the middle of a character
		{"Größe", 6, "…", "Gr…"},
		{"会议室", 8, "", "会议"},
		{"Aurora", 2, "...", "..."},
		{"\x80\x80\x80\x80\x80\x80\x80\x80", 6, "", "\x80\x80"}, // it is no text, and is cut all the same
	} {
		if got := Cut(c.text, c.most, c.mark); got != c.want {
			t.Errorf("Cut(%q, %d, %q): %q, want %q", c.text, c.most, c.mark, got, c.want)
		}
	}
}
