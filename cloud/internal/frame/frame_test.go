package frame

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// through returns what a reader passes on, and why it stopped.
func through(rules *Rules, b []byte, oneByOne bool) ([]byte, error) {
	var r io.Reader = bytes.NewReader(b)
	if oneByOne {
		r = iotest.OneByteReader(r)
	}
	out, err := io.ReadAll(NewReader(r, rules))
	return out, err
}

func TestReader(t *testing.T) {
	connack, puback := []byte{0x20, 2, 0, 0}, []byte{0x40, 2, 0, 1}
	publish := []byte{0x32, 6, 0, 1, 'a', 0, 1, 'x'}
	for _, c := range []struct {
		name   string
		frames [][]byte
		passed int // frames
		ok     bool
	}{
		{"in order", [][]byte{connack, publish, puback, {0xD0, 0}}, 4, true},
		{"nothing", nil, 0, true},
		{"not CONNACK first", [][]byte{publish}, 0, false},
		{"CONNACK twice", [][]byte{connack, connack}, 1, false},
		{"wrong flags", [][]byte{connack, {0x41, 2, 0, 1}}, 1, false},
		{"too long", [][]byte{connack, {0x30, 0x81, 0x08, 0, 1}}, 1, false},
		{"longest length", [][]byte{connack, {0x30, 0xFF, 0xFF, 0xFF, 0x7F}}, 1, false},
		{"five length bytes", [][]byte{connack, {0x30, 0x80, 0x80, 0x80, 0x80, 1}}, 1, false},
		{"topic too long", [][]byte{connack, append([]byte{0x30, 52, 0, 50}, make([]byte, 50)...)}, 1, false},
		{"no room for the id", [][]byte{connack, {0x32, 3, 0, 1, 'a'}}, 1, false},
		{"QoS 2", [][]byte{connack, {0x34, 6, 0, 1, 'a', 0, 1, 'x'}}, 1, false},
	} {
		var all, want []byte
		for i, f := range c.frames {
			if all = append(all, f...); i < c.passed {
				want = append(want, f...)
			}
		}
		for _, oneByOne := range []bool{false, true} {
			got, err := through(FromBroker(1024, 40), all, oneByOne)
			if !bytes.Equal(got, want) || c.ok != (err == nil) || (err != nil && !errors.Is(err, ErrFrame)) {
				t.Errorf("%s: passed %x with %v, want %x", c.name, got, err, want)
			}
		}
	}
}

func TestRefusalIsFinal(t *testing.T) {
	r := NewReader(bytes.NewReader([]byte{0x40, 2, 0, 1, 0x20, 2, 0, 0}), FromBroker(1024, 40))
	for range 3 {
		if n, err := r.Read(make([]byte, 10)); n != 0 || !errors.Is(err, ErrFrame) {
			t.Errorf("read %d bytes, error %v", n, err)
		}
	}
}

func TestSeenMayRefuse(t *testing.T) {
	r := NewReader(bytes.NewReader([]byte{0x20, 2, 0, 0, 0xD0, 0}), FromBroker(1024, 40))
	no := errors.New("no")
	r.Seen = func(kind byte) error {
		if kind == Pingresp {
			return no
		}
		return nil
	}
	if got, err := io.ReadAll(r); len(got) != 4 || !errors.Is(err, no) {
		t.Errorf("passed %x with %v", got, err)
	}
}

// Whatever passes is a prefix of what came, and no decoder stumbles over it.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0x20, 2, 0, 0, 0x32, 6, 0, 1, 'a', 0, 1, 'x', 0x40, 2, 0, 1, 0x90, 3, 0, 1, 1})
	f.Add([]byte{0x10, 14, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 60, 0, 2, 'x', 'y', 0x82, 6, 0, 1, 0, 1, 'a', 0, 0xE0, 0})
	f.Add([]byte{0x30, 0xFF, 0xFF, 0xFF, 0x7F})
	f.Add([]byte{0x30})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, rules := range []*Rules{FromBroker(512, 64), FromClient(128, 512, 64)} {
			whole, err := through(rules, b, false)
			slow, slowErr := through(rules, b, true)
			if !bytes.Equal(whole, slow) || (err == nil) != (slowErr == nil) {
				t.Fatalf("%x passed at once, %x byte by byte", whole, slow)
			}
			if !bytes.HasPrefix(b, whole) || (err == nil && len(whole) != len(b)) {
				t.Fatalf("%x became %x, %v", b, whole, err)
			}
			for r := bytes.NewReader(whole); ; {
				if _, err := packets.ReadPacket(r); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || r.Len() == 0 {
					break
				}
			}
		}
	})
}
