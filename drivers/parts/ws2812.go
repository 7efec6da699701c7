package parts

import (
	"bytes"
	"time"

	"periph.io/x/conn/v3/physic"
)

// The WS2812B has no clock: a bit is a pulse, short for 0 and long for 1
// (Worldsemi, WS2812B: 0.4 and 0.8 µs, each ±150 ns; WS2812B-V5: 220 to 380
// and 580 to 1000 ns). Four bits of SPI make one of the strip, of 308 ns each,
// which is right for both: 1000 is 0.31 high and 0.92 low, 1110 the other way
// round. It stays right from 3.16 to 3.33 MHz, so that a board whose clock has
// but an even divider finds one. The last bit is low: a controller that waits
// between two bytes prolongs only a pause.
const (
	ws2812Speed = 3250 * physic.KiloHertz
	ws2812Zero  = 0b1000
	ws2812One   = 0b1110
	// ws2812Quiet shows what was sent; 280 µs in the newer parts.
	ws2812Quiet = 320 * time.Microsecond
)

// ws2812Frame is the transfer that shows the colours. It begins with quiet as
// well, for a port whose line rests high.
func ws2812Frame(colors []rgb) []byte {
	quiet := make([]byte, ws2812Quiet/(8*ws2812Speed.Period()))
	w := bytes.NewBuffer(make([]byte, 0, 2*len(quiet)+12*len(colors)))
	w.Write(quiet)
	for _, c := range colors {
		for _, b := range [...]byte{c.g, c.r, c.b} {
			for shift := 6; shift >= 0; shift -= 2 {
				w.WriteByte(symbol(b>>(shift+1))<<4 | symbol(b>>shift))
			}
		}
	}
	w.Write(quiet)
	return w.Bytes()
}

// symbol is the lowest bit as four bits of SPI.
func symbol(b byte) byte {
	if b&1 != 0 {
		return ws2812One
	}
	return ws2812Zero
}
