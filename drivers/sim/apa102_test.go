package sim

import (
	"slices"
	"testing"

	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"
)

func TestAPA102(t *testing.T) {
	var (
		start = []byte{0, 0, 0, 0}
		red   = []byte{0xFF, 0x00, 0x00, 0xFF} // blue, green, red
		dim   = []byte{0xE1, 0x30, 0x20, 0x10}
		end   = []byte{0xFF, 0xFF, 0xFF, 0xFF}
		off   Pixel
		isRed = Pixel{R: 255, Brightness: 31}
		isDim = Pixel{R: 0x10, G: 0x20, B: 0x30, Brightness: 1}
	)
	tests := []struct {
		name string
		mode spi.Mode
		sent []byte
		want []Pixel
	}{
		{"all", spi.Mode0, slices.Concat(start, red, dim, red, end), []Pixel{isRed, isDim, isRed}},
		{"mode 3", spi.Mode3, slices.Concat(start, red, dim, red, end), []Pixel{isRed, isDim, isRed}},
		{"wrong edge", spi.Mode1, slices.Concat(start, red, dim, red, end), []Pixel{off, off, off}},
		{"too few", spi.Mode0, slices.Concat(start, dim, end[:1]), []Pixel{isDim, off, off}},
		{"too many", spi.Mode0, slices.Concat(start, dim, dim, dim, red, end), []Pixel{isDim, isDim, isDim}},
		{"no start frame", spi.Mode0, slices.Concat(red, dim, red, end), []Pixel{off, off, off}},
		{"short start frame", spi.Mode0, slices.Concat(start[:3], red, dim, red, end), []Pixel{off, off, off}},
		{"long start frame", spi.Mode0, slices.Concat(start, start, red, dim, red, end), []Pixel{isRed, isDim, isRed}},
		{"no end frame", spi.Mode0, slices.Concat(start, red, dim, red), []Pixel{isRed, isDim, off}},
		{"end frame of zeros", spi.Mode0, slices.Concat(start, red, dim, red, start), []Pixel{isRed, isDim, isRed}},
		{"no marker", spi.Mode0, slices.Concat(start, red, []byte{0x7F, 1, 2, 3}, red, end), []Pixel{isRed, off, off}},
		{"cut off", spi.Mode0, slices.Concat(start, red, dim[:2]), []Pixel{isRed, off, off}},
		{"nothing", spi.Mode0, nil, []Pixel{off, off, off}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			strip := &APA102{SPI: "spi0.0", LEDs: 3}
			port, err := world(t, strip).SPI("spi0.0", 4*physic.MegaHertz, tt.mode)
			if err != nil {
				t.Fatal(err)
			}
			if err := port.Tx(tt.sent, nil); err != nil {
				t.Fatal(err)
			}
			if got := strip.Pixels(); !slices.Equal(got, tt.want) {
				t.Errorf("shows %v, want %v", got, tt.want)
			}
		})
	}
}

func TestAPA102Garbled(t *testing.T) {
	strip := &APA102{SPI: "spi0.0", LEDs: 1}
	port, err := world(t, strip).SPI("spi0.0", physic.MegaHertz, spi.Mode0)
	if err != nil {
		t.Fatal(err)
	}
	strip.Garble()
	sent := []byte{0, 0, 0, 0, 0xFF, 1, 2, 3, 0xFF}
	if err := port.Tx(sent, make([]byte, 9)); err != nil {
		t.Errorf("nothing on the bus can tell, yet Tx gives %v", err)
	}
	if strip.Pixels()[0] != (Pixel{}) || sent[4] != 0xFF {
		t.Error("what is disturbed arrived, or the caller's bytes were changed")
	}
	if err := port.Tx(sent, make([]byte, 3)); err == nil {
		t.Error("different lengths are accepted")
	}
}
