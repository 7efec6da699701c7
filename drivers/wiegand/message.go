package wiegand

import (
	"errors"
	"fmt"
	"math/bits"
)

var (
	errLength = errors.New("message has a length that no format has")
	errParity = errors.New("message has a wrong parity")
	errKey    = errors.New("message is no key")
)

// Reading is what one message says.
type Reading struct {
	Bits           int
	Key            byte   // '0' to '9', '*' or '#'; 0 for a card
	Facility, Card uint32 // of a card
}

// format is how a card's message is laid out between its two parity bits.
type format struct{ bits, facility, card int }

func formats() []format {
	return []format{
		{26, 8, 16},  // H10301
		{34, 16, 16}, // H10306
		{37, 16, 19}, // H10304
	}
}

// Decode reads a message of n bits, of which the last to come is the lowest.
func Decode(message uint64, n int) (Reading, error) {
	switch n {
	case 4:
		return key(message, n)
	case 8:
		if message>>4 != ^message&0xf {
			return Reading{}, errKey
		}
		return key(message&0xf, n)
	}
	for _, f := range formats() {
		if f.bits == n {
			return f.decode(message)
		}
	}
	return Reading{}, fmt.Errorf("%w: %d bits", errLength, n)
}

func key(code uint64, n int) (Reading, error) {
	const keys = "0123456789*#"
	if code >= uint64(len(keys)) {
		return Reading{}, errKey
	}
	return Reading{Bits: n, Key: keys[code]}, nil
}

// decode checks that the ones in the first half are even and in the second
// odd. Halves of an odd length share the middle.
func (f format) decode(message uint64) (Reading, error) {
	half := (f.bits + 1) / 2
	first, second := message>>(f.bits-half), message&(1<<half-1)
	if message>>f.bits != 0 || bits.OnesCount64(first)%2 != 0 || bits.OnesCount64(second)%2 != 1 {
		return Reading{}, errParity
	}
	return Reading{
		Bits:     f.bits,
		Facility: uint32(message >> (1 + f.card) & (1<<f.facility - 1)),
		Card:     uint32(message >> 1 & (1<<f.card - 1)),
	}, nil
}
