package sim

import (
	"fmt"
	"slices"
	"sync"

	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"
)

// maxLEDs bounds the length of a strip.
const maxLEDs = 1024

// APA102 is a strip of addressable LEDs: a start frame of 32 zero bits, one
// frame per LED (three ones, five bits of global brightness, blue, green,
// red), and an end frame of at least half a clock per LED, without which the
// last LEDs do not get their data (APA Electronic, APA102 datasheet). The
// clock idles low and data is taken on the rising edge: mode 0.
type APA102 struct {
	Faults `yaml:"-"`
	SPI    string `yaml:"spi"`
	LEDs   int    `yaml:"leds"`

	mu     sync.Mutex
	pixels []Pixel
}

// Pixel is what one LED shows.
type Pixel struct {
	R, G, B    byte
	Brightness byte // 0 to 31
}

// Subjects are its sub-devices.
func (*APA102) Subjects() []string { return []string{"ring-light"} }

// Attach wires it into the world.
func (a *APA102) Attach(w *World) error {
	if a.LEDs < 1 || a.LEDs > maxLEDs {
		return fmt.Errorf("leds %d is out of range: want 1 to %d", a.LEDs, maxLEDs)
	}
	a.pixels = make([]Pixel, a.LEDs)
	return w.plugIn(a.SPI, &a.Faults, a)
}

// shift takes a transfer. Nothing leads back from the strip.
func (a *APA102) shift(w []byte, mode spi.Mode, _ physic.Frequency) []byte {
	if mode&3 != spi.Mode0 && mode&3 != spi.Mode3 {
		return nil // data is taken at the wrong edge: the strip sees no start
	}
	start := startFrame(w)
	if start < 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	frames := w[start:]
	for i := range a.pixels {
		f := frames[min(4*i, len(frames)):]
		// Each LED passes data on half a clock late: one bit more for two.
		if len(f) < 4 || 8*(len(f)-4) < (i+1)/2 || f[0]>>5 != 7 {
			break
		}
		a.pixels[i] = Pixel{R: f[3], G: f[2], B: f[1], Brightness: f[0] & 31}
	}
	return nil
}

// startFrame is where the LED frames begin: after the first run of at least
// four zero bytes. It is -1 if there is none.
func startFrame(w []byte) int {
	zeros := 0
	for i, b := range w {
		if b != 0 && zeros >= 4 {
			return i
		}
		zeros++
		if b != 0 {
			zeros = 0
		}
	}
	return -1
}

// Pixels returns what the LEDs show.
func (a *APA102) Pixels() []Pixel {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.pixels)
}

// State says how it is.
func (a *APA102) State() string {
	p := a.Pixels()[0]
	return fmt.Sprintf("%d leds, the first #%02x%02x%02x at %d of 31", a.LEDs, p.R, p.G, p.B, p.Brightness)
}
