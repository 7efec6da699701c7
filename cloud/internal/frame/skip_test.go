package frame

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"
)

// publish is a packet with a payload of so many bytes.
func publish(qos byte, topic string, payload int) []byte {
	body := append([]byte{byte(len(topic) >> 8), byte(len(topic))}, topic...)
	if qos > 0 {
		body = append(body, 1, 2)
	}
	body = append(body, make([]byte, payload)...)
	head := []byte{Publish<<4 | qos<<1}
	for n := len(body); ; {
		b := byte(n & 127)
		if n >>= 7; n == 0 {
			return append(append(head, b), body...)
		}
		head = append(head, b|128)
	}
}

// A message that is too large is read past, and what follows it is read.
func TestSkip(t *testing.T) {
	small, long := publish(1, "a", 3), string(bytes.Repeat([]byte("t"), 50))
	all := slices.Concat([]byte{0x20, 2, 0, 0}, publish(1, "large", 100_000), small, publish(0, "none", 5000), publish(1, long, 1), small)
	for _, r := range []io.Reader{bytes.NewReader(all), iotest.OneByteReader(bytes.NewReader(all))} {
		reader := NewReader(r, FromBroker(1024, 40))
		var got []Skipped
		reader.Skip = func(s Skipped) error { got = append(got, s); return nil }
		passed, err := io.ReadAll(reader)
		if err != nil || !bytes.Equal(passed, slices.Concat([]byte{0x20, 2, 0, 0}, small, small)) {
			t.Errorf("passed %x, %v", passed, err)
		}
		if want := []Skipped{{"large", 100_009, 1, 0x102}, {"none", 5006, 0, 0}, {long, 55, 1, 0x102}}; !slices.Equal(got, want) {
			t.Errorf("skipped %v: want %v", got, want)
		}
	}
}

// Of a large packet that is cut off, or not well-formed, nothing is told.
func TestSkipRefuses(t *testing.T) {
	bad := publish(0, "a", 5000)
	bad[3], bad[4] = 0xFF, 0xFF // the topic is longer than the packet
	for _, all := range [][]byte{publish(1, "a", 5000)[:4000], bad, publish(2, "a", 5000), publish(1, "a", 5000)[:5]} {
		reader := NewReader(io.MultiReader(bytes.NewReader([]byte{0x20, 2, 0, 0}), bytes.NewReader(all)), FromBroker(1024, 40))
		reader.Skip = func(s Skipped) error { t.Errorf("told of %v", s); return nil }
		if passed, err := io.ReadAll(reader); len(passed) != 4 || !errors.Is(err, ErrFrame) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("passed %x, %v", passed, err)
		}
	}
}
