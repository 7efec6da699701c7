package sim

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"
)

// The times of a WS2812B (Worldsemi, "Data transfer time"): each within 150
// ns. A reset is a low of 280 µs in the parts made since 2017.
const (
	wsShortHigh = 400 * time.Nanosecond // of a 0
	wsShortLow  = 850 * time.Nanosecond
	wsLongHigh  = 800 * time.Nanosecond // of a 1
	wsLongLow   = 450 * time.Nanosecond
	wsWithin    = 150 * time.Nanosecond
	wsReset     = 280 * time.Microsecond
)

// WS2812 is a strip of LEDs on one wire, here the data line of an SPI port:
// it sees a waveform, and knows nothing of bits and bytes. Each LED keeps the
// first 24 bits after a reset, green, red, blue, and passes the others on; the
// next reset shows them. A pulse that is neither 0 nor 1 spoils what follows
// until the reset.
type WS2812 struct {
	Faults `yaml:"-"`
	SPI    string `yaml:"spi"`
	LEDs   int    `yaml:"leds"`

	mu      sync.Mutex
	pixels  []Pixel
	bits    []bool // since the last reset
	spoiled bool
}

// Subjects are its sub-devices.
func (*WS2812) Subjects() []string { return []string{"ring-light"} }

// Attach wires it into the world.
func (s *WS2812) Attach(w *World) error {
	if s.LEDs < 1 || s.LEDs > maxLEDs {
		return fmt.Errorf("leds %d is out of range: want 1 to %d", s.LEDs, maxLEDs)
	}
	s.pixels = make([]Pixel, s.LEDs)
	return w.plugIn(s.SPI, &s.Faults, s)
}

// shift takes a transfer, of which the wire is low before and after. Nothing
// leads back from the strip.
func (s *WS2812) shift(w []byte, _ spi.Mode, frequency physic.Frequency) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	tick := time.Duration(float64(physic.Hertz) / float64(frequency) * float64(time.Second))
	var high, low time.Duration
	for i := range 8 * len(w) {
		if w[i/8]<<(i%8)&0x80 == 0 {
			low += tick
			continue
		}
		if low > 0 {
			s.pulse(high, low)
			high, low = 0, 0
		}
		high += tick
	}
	s.pulse(high, low)
	return nil
}

// pulse takes a high and the low after it.
func (s *WS2812) pulse(high, low time.Duration) {
	is := func(d, want time.Duration) bool { return d >= want-wsWithin && d <= want+wsWithin }
	ends := low >= wsReset
	switch {
	case high == 0 || s.spoiled || len(s.bits) == 24*s.LEDs: // what is too much is passed on
	case is(high, wsShortHigh) && (ends || is(low, wsShortLow)):
		s.bits = append(s.bits, false)
	case is(high, wsLongHigh) && (ends || is(low, wsLongLow)):
		s.bits = append(s.bits, true)
	default:
		s.spoiled = true
	}
	if ends {
		s.latch()
	}
}

// latch shows what has come.
func (s *WS2812) latch() {
	for i := range min(len(s.bits)/24, len(s.pixels)) {
		var v uint32
		for _, bit := range s.bits[24*i : 24*i+24] {
			v <<= 1
			if bit {
				v |= 1
			}
		}
		s.pixels[i] = Pixel{G: byte(v >> 16), R: byte(v >> 8), B: byte(v), Brightness: 31}
	}
	s.bits, s.spoiled = nil, false
}

// Pixels returns what the LEDs show; a WS2812 has but one brightness, 31.
func (s *WS2812) Pixels() []Pixel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pixels)
}

// State says how it is.
func (s *WS2812) State() string {
	p := s.Pixels()[0]
	return fmt.Sprintf("%d leds, the first #%02x%02x%02x", s.LEDs, p.R, p.G, p.B)
}
