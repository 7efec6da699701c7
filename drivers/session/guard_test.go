package session

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// wire is a connection from which bytes are read.
type wire struct {
	net.Conn
	io.Reader
	closed bool
}

func (w *wire) Read(p []byte) (int, error) { return w.Reader.Read(p) }
func (w *wire) Close() error               { w.closed = true; return nil }

func through(r io.Reader) (got []byte, w *wire, err error) {
	w = &wire{Reader: r}
	got, err = io.ReadAll(&guard{Conn: w, failed: func(error) {}})
	return got, w, err
}

func publish(size int, length ...byte) []byte {
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
		"report":                   {publish(100, 100), true},
		"largest":                  {publish(maxFrame, 0x80, 0x80, 0x04), true},
		"suback with two codes":    {[]byte{0x90, 4, 0, 1, 0, 0}, false},
		"suback without code":      {[]byte{0x90, 2, 0, 1}, false},
		"one byte too large":       {publish(0, 0x81, 0x80, 0x04), false},
		"256 MB":                   {publish(0, 0xff, 0xff, 0xff, 0x7f), false},
		"length without end":       {publish(0, 0x80, 0x80, 0x80, 0x80, 0x01), false},
		"connect from a broker":    {[]byte{0x10, 0}, false},
		"disconnect from a broker": {[]byte{0xe0, 0}, false},
		"long connack":             {[]byte{0x20, 3, 0, 0, 0}, false},
		"bad after good":           {append(publish(5, 5), 0xf0, 0), false},
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
