package parts

import "periph.io/x/conn/v3/physic"

// apa102Speed is slow enough for a ring at the end of a metre of cable.
const apa102Speed = 2 * physic.MegaHertz

// Frames of the APA102, 32 bits each (APA102 data sheet; SK9822 alike).
const (
	startByte = 0x00 // the start frame is four of them
	ledMark   = 0xe0 // the first byte of an LED: 111 and 5 bits of current
	fullLED   = 0x1f // full current: less would flicker at 500 Hz in a camera
)

// apa102Frame is the transfer that shows the colours.
//
// It ends with zeros, not with the ones of the data sheet: the clock of LED n
// lags by n/2 bits, which takes n/2 more clocks to push the last colour
// through, and zeros are a start frame to an SK9822 and dark to an LED too many.
func apa102Frame(colors []rgb) []byte {
	w := make([]byte, 4, 4+4*len(colors)+4+len(colors)/16+1) // the start frame
	for _, c := range colors {
		w = append(w, ledMark|fullLED, c.b, c.g, c.r)
	}
	for range 4 + len(colors)/16 + 1 {
		w = append(w, startByte)
	}
	return w
}
