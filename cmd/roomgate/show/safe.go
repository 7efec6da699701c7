package show

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"roomgate/agent/printable"
)

// Safe is what people read with what they must not meet in it written as it is in
// JSON, \u009b: the controls of C1, which some terminals obey (ECMA-48 section
// 8.3), and the marks that turn the direction of a text around (UAX 9), by which
// a name shows as another. Bytes that are no UTF-8 are a question mark. What is
// JSON stays the same JSON. Several loggers share one, each with a lock of its
// own, so it has one too.
type Safe struct {
	Out  io.Writer
	Say  func(text string) string // how a text is said; nil: as it is
	mu   sync.Mutex
	tail []byte // the beginning of a character whose end is not written yet
}

// Write writes all of p but a character that is cut off at its end, which comes
// with the next.
func (s *Safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(s.tail, p...)
	s.tail = nil
	var safe bytes.Buffer
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1 && !utf8.FullRune(text):
			s.tail, text, n = bytes.Clone(text), nil, 0
		case r == utf8.RuneError && n == 1:
			safe.WriteByte('?')
		case printable.Misleads(r):
			fmt.Fprintf(&safe, `\u%04x`, r)
		default:
			safe.Write(text[:n])
		}
		text = text[n:]
	}
	said := safe.Bytes()
	if s.Say != nil {
		said = []byte(s.Say(safe.String()))
	}
	if _, err := s.Out.Write(said); err != nil {
		return 0, err
	}
	return len(p), nil
}

// FileOf is the file that a writer leads to; nil: none.
func FileOf(w io.Writer) *os.File {
	if s, ok := w.(*Safe); ok {
		w = s.Out
	}
	file, _ := w.(*os.File)
	return file
}
