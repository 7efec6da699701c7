package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// misleading are all characters that must not be shown, each after a letter.
func misleading() string {
	var b strings.Builder
	for _, span := range [][2]rune{{0x80, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}} {
		for r := span[0]; r <= span[1]; r++ {
			b.WriteString("x" + string(r))
		}
	}
	return b.String()
}

// unsafeIn says which of them a text has.
func unsafeIn(text string) (found []rune) {
	for _, r := range text {
		if r >= 0x80 && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar {
			found = append(found, r)
		}
	}
	return found
}

// TestSafe writes them as text and JSON, whole and byte by byte.
func TestSafe(t *testing.T) {
	name := "Größe 🚪 שלום " + misleading()
	raw, err := json.Marshal(map[string]string{"name": name})
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []int{1, 2, 3, 5, len(raw)} {
		var out bytes.Buffer
		s := &Safe{Out: &out}
		for rest := raw; len(rest) > 0; {
			n, err := s.Write(rest[:min(piece, len(rest))])
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		var back map[string]string
		if found := unsafeIn(out.String()); found != nil {
			t.Errorf("in pieces of %d: %U in %q", piece, found, &out)
		}
		if json.Unmarshal(out.Bytes(), &back) != nil || back["name"] != name {
			t.Errorf("in pieces of %d it is other JSON: %q", piece, back["name"])
		}
	}
	var out bytes.Buffer
	if _, err := (&Safe{Out: &out}).Write([]byte("a\x9b31mb\xffc")); err != nil || out.String() != "a?31mb?c" {
		t.Errorf("no UTF-8: %q, %v", &out, err)
	}
	if FileOf(&Safe{Out: os.Stdout}) != os.Stdout || FileOf(os.Stdout) != os.Stdout || FileOf(&out) != nil {
		t.Error("the file behind it is not found")
	}
}

// TestPlainHasNoMarks: a cell of a table has neither controls nor marks.
func TestPlainHasNoMarks(t *testing.T) {
	got := Plain("a\x1b[2J" + misleading())
	if unsafeIn(got) != nil || strings.ContainsFunc(got, unicode.IsControl) {
		t.Errorf("%q", got)
	}
}

// TestSafeForSeveralLoggers: the demo's cloud and its gateway write to one terminal.
func TestSafeForSeveralLoggers(t *testing.T) {
	var out strings.Builder
	s := &Safe{Out: &out}
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for range 200 {
				fmt.Fprintln(s, "über")
			}
		})
	}
	writers.Wait()
	if want := strings.Repeat("über\n", 8*200); out.String() != want {
		t.Errorf("%d bytes, want %d whole lines", out.Len(), 8*200)
	}
}

// TestSafeSays: a text is said as Say has it.
func TestSafeSays(t *testing.T) {
	var out bytes.Buffer
	s := &Safe{Out: &out, Say: strings.ToUpper}
	if n, err := s.Write([]byte("ab")); n != 2 || err != nil || out.String() != "AB" {
		t.Errorf("%d, %v: %q", n, err, out.String())
	}
}
