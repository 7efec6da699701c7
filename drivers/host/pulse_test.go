package host

import (
	"errors"
	"testing"

	"roomgate/drivers"
)

func TestPulsesOfALineThatIsNotThere(t *testing.T) {
	if _, err := empty(t).Pulses("KEYPAD_D0", drivers.PullUp); !errors.Is(err, drivers.ErrNoLine) {
		t.Errorf("got %v, want ErrNoLine", err)
	}
}

// A card is up to 37 pulses in 74 ms, and the kernel keeps but 16 edges unless
// it is asked for more.
func TestEdgesHaveRoomForACard(t *testing.T) {
	if r := request(3, flagInput|flagFalling, false); r.eventBufferSize < 37 {
		t.Errorf("room for %d edges", r.eventBufferSize)
	}
	if r := request(3, flagOutput, true); r.eventBufferSize != 0 {
		t.Errorf("an output has room for %d edges", r.eventBufferSize)
	}
}
