package session

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// wire is a connection from which bytes are read.
type wire struct {
	net.Conn
	io.Reader
	closed  bool
	skipped []TooLarge
}

func (w *wire) Read(p []byte) (int, error) { return w.Reader.Read(p) }
func (w *wire) Close() error               { w.closed = true; return nil }

func through(r io.Reader) (got []byte, w *wire, err error) {
	w = &wire{Reader: r}
	got, err = io.ReadAll(newGuard(w, func(error) {}, func(m TooLarge) { w.skipped = append(w.skipped, m) }))
	return got, w, err
}

func published(size int, length ...byte) []byte {
	return append(append([]byte{0x30}, length...), make([]byte, size)...)
}

func TestGuard(t *testing.T) {
	for name, c := range map[string]struct {
		packets []byte
		ok      bool
	}{
		"connack":                  {[]byte{0x20, 2, 0, 0}, true},
		"connack, suback":          {[]byte{0x20, 2, 0, 0, 0x90, 3, 0, 1, 0}, true},
		"pong":                     {[]byte{0xd0, 0, 0xd0, 0}, true},
		"report":                   {published(100, 100), true},
		"largest":                  {published(maxFrame, 0x80, 0x80, 0x04), true},
		"suback with two codes":    {[]byte{0x90, 4, 0, 1, 0, 0}, false},
		"suback without code":      {[]byte{0x90, 2, 0, 1}, false},
		"256 MB":                   {published(2, 0xff, 0xff, 0xff, 0x7f), false},
		"length without end":       {published(0, 0x80, 0x80, 0x80, 0x80, 0x01), false},
		"connect from a broker":    {[]byte{0x10, 0}, false},
		"disconnect from a broker": {[]byte{0xe0, 0}, false},
		"long connack":             {[]byte{0x20, 3, 0, 0, 0}, false},
		"bad after good":           {append(published(5, 5), 0xf0, 0), false},
	} {
		for _, r := range []io.Reader{bytes.NewReader(c.packets), iotest.OneByteReader(bytes.NewReader(c.packets))} {
			got, w, err := through(r)
			switch {
			case c.ok && (err != nil || !bytes.Equal(got, c.packets)):
				t.Errorf("%s: %d of %d bytes, %v", name, len(got), len(c.packets), err)
			case !c.ok && (!errors.Is(err, errFrame) || !w.closed):
				t.Errorf("%s: %v, closed: %t", name, err, w.closed)
			}
		}
	}
}

// TestTooLarge: a message that is too large is told and left out, between others
// that are not touched. One that would take too long to read past is not.
func TestTooLarge(t *testing.T) {
	before, after := published(100, 100), []byte{0xd0, 0}
	for _, size := range []int{maxFrame + 1, 1 << 20, maxSkipped, maxSkipped + 1} {
		for _, retained := range []byte{0, 1} {
			large := append([]byte{0x30 | retained}, byte(size)|0x80, byte(size>>7)|0x80, byte(size>>14)|0x80, byte(size>>21))
			large = append(append(large, 0, 3), "a/b"...)
			large = append(large, make([]byte, size-5)...)
			got, w, err := through(iotest.HalfReader(bytes.NewReader(slices.Concat(before, large, after))))
			want := TooLarge{"a/b", size, retained == 1}
			if size > maxSkipped {
				if !errors.Is(err, errFrame) || !strings.Contains(err.Error(), want.Error()) || !bytes.Equal(got, before) {
					t.Errorf("%d bytes: %d came through, %v", size, len(got), err)
				}
				continue
			}
			if err != nil || !bytes.Equal(got, slices.Concat(before, after)) || !slices.Equal(w.skipped, []TooLarge{want}) {
				t.Errorf("%d bytes: %d came through, told %v, %v", size, len(got), w.skipped, err)
			}
		}
	}
}

// TestGuardInPieces: where a connection cuts its reads makes no difference.
func TestGuardInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.SampledFrom([]byte{0x20, 0x30, 0x90, 0xd0, 0, 1, 2, 3, 0x80, 0xff}), 0, 40).Draw(t, "data")
		_, _, whole := through(bytes.NewReader(data))
		_, _, pieces := through(iotest.OneByteReader(bytes.NewReader(data)))
		if errors.Is(whole, errFrame) != errors.Is(pieces, errFrame) {
			t.Errorf("whole: %v, in pieces: %v", whole, pieces)
		}
	})
}

// TestTooLargeIsShort: a topic of 16 kB makes no line of 16 kB in the log.
func TestTooLargeIsShort(t *testing.T) {
	long := TooLarge{Topic: strings.Repeat("ä/", 8<<10), Size: 1 << 20}.Error()
	if len(long) > 300 || !utf8.ValidString(long) || !strings.Contains(long, "… (24576 bytes)") {
		t.Errorf("%d bytes: %.200q", len(long), long)
	}
	if short := (TooLarge{Topic: "a/b", Size: 70000}).Error(); !strings.Contains(short, " on a/b is ") {
		t.Error(short)
	}
}
