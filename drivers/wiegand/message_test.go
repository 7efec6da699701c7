package wiegand

import (
	"errors"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		message uint64
		n       int
		want    Reading
		err     error
	}{
		{0b0000, 4, Reading{Bits: 4, Key: '0'}, nil},
		{0b1001, 4, Reading{Bits: 4, Key: '9'}, nil},
		{0b1010, 4, Reading{Bits: 4, Key: '*'}, nil},
		{0b1011, 4, Reading{Bits: 4, Key: '#'}, nil},
		{0b1100, 4, Reading{}, errKey},
		{0b11110000, 8, Reading{Bits: 8, Key: '0'}, nil}, // HID's table of keys
		{0b10000111, 8, Reading{Bits: 8, Key: '7'}, nil},
		{0b01001011, 8, Reading{Bits: 8, Key: '#'}, nil},
		{0b10010111, 8, Reading{}, errKey},
		{0b00111100, 8, Reading{}, errKey},
		// 1234567890 as a manual of a camera shows it in 34 bits.
		{0b1_01001001100101100000001011010010_0, 34, Reading{Bits: 34, Facility: 0x4996, Card: 0x02d2}, nil},
		{0b1_01001001100101100000001011010010_1, 34, Reading{}, errParity},
		{0b0_00000000_0000000000000000_1, 26, Reading{Bits: 26}, nil},
		{0, 26, Reading{}, errParity},
		{1<<26 | 1, 26, Reading{}, errParity},
		{1, 1, Reading{}, errLength},
		{0, 0, Reading{}, errLength},
		{1, 64, Reading{}, errLength},
		{1, 1000, Reading{}, errLength},
	} {
		got, err := Decode(c.message, c.n)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%0*b: %+v, %v, want %+v, %v", c.n, c.message, got, err, c.want, c.err)
		}
	}
}

// encode is a card as the standard writes it, a bit at a time.
func encode(f format, facility, card uint64) uint64 {
	var field []uint64
	for i := f.facility - 1; i >= 0; i-- {
		field = append(field, facility>>i&1)
	}
	for i := f.card - 1; i >= 0; i-- {
		field = append(field, card>>i&1)
	}
	even, odd := uint64(0), uint64(1)
	covered := (f.bits+1)/2 - 1 // bits that each parity counts
	for i, bit := range field {
		if i < covered {
			even ^= bit
		}
		if i >= len(field)-covered {
			odd ^= bit
		}
	}
	message := even
	for _, bit := range field {
		message = message<<1 | bit
	}
	return message<<1 | odd
}

func TestEveryCardIsRead(t *testing.T) {
	for _, f := range formats() {
		rapid.Check(t, func(t *rapid.T) {
			facility := rapid.Uint64Range(0, 1<<f.facility-1).Draw(t, "facility")
			card := rapid.Uint64Range(0, 1<<f.card-1).Draw(t, "card")
			message := encode(f, facility, card)
			got, err := Decode(message, f.bits)
			if want := (Reading{f.bits, 0, uint32(facility), uint32(card)}); err != nil || got != want {
				t.Fatalf("%d bits: %+v, %v, want %+v", f.bits, got, err, want)
			}
			// One wrong bit is always seen.
			wrong := message ^ 1<<rapid.IntRange(0, f.bits-1).Draw(t, "bit")
			if got, err := Decode(wrong, f.bits); !errors.Is(err, errParity) {
				t.Fatalf("%d bits, one of them wrong: %+v, %v", f.bits, got, err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(uint64(1), 26)
	f.Add(uint64(0xf0), 8)
	f.Add(uint64(1)<<63, -1)
	f.Fuzz(func(t *testing.T, message uint64, n int) {
		r, err := Decode(message, n)
		if err != nil {
			return
		}
		if r.Bits != n || bits.Len64(message) > n || r.Key != 0 && (n > 8 || r.Card != 0) {
			t.Errorf("%b of %d bits is %+v", message, n, r)
		}
	})
}
