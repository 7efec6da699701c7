package parts

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/i2c/i2ctest"

	"roomgate/drivers"
)

// The rows are of the data sheet's table "12-bit temperature data format", and
// what a bus shows that nobody drives.
func TestDecode(t *testing.T) {
	tests := []struct {
		raw  uint16
		want string // "": an error
	}{
		{0x7d00, "125"}, // 0111 1101 0000
		{0x6400, "100"},
		{0x5000, "80"},
		{0x4b00, "75"},
		{0x3200, "50"},
		{0x1900, "25"},
		{0x0040, "0.3"}, // 0.25
		{0x0000, "0"},
		{0xfff0, "-0.1"}, // -0.0625
		{0xffc0, "-0.3"},
		{0xe700, "-25"},
		{0xd800, "-40"},
		{0xc900, ""}, // -55
		{0x7ff0, ""}, // 127.9
		{0xffff, ""},
		{0x1901, ""},
	}
	for _, c := range tests {
		celsius, err := decode(c.raw)
		got := tenths(celsius)
		if err != nil {
			got = ""
		}
		if got != c.want {
			t.Errorf("%#04x is %q (%v), want %q", c.raw, got, err, c.want)
		}
	}
	if got := tenths(-0.01); got != "0" {
		t.Errorf("a little below zero is %q", got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(uint16(0x1900))
	f.Add(uint16(0xffff))
	f.Fuzz(func(t *testing.T, raw uint16) {
		c, err := decode(raw)
		if err == nil && (c < coldest || c > hottest || uint16(int16(c*16)<<4) != raw) {
			t.Errorf("%#04x is %g", raw, c)
		}
		_, decimals, _ := strings.Cut(tenths(c), ".")
		if len(decimals) > 1 {
			t.Errorf("%g is written %s", c, tenths(c))
		}
	})
}

// The transactions of one reading, byte by byte.
func TestReadingOnTheWire(t *testing.T) {
	on := func(t *testing.T, ops ...i2ctest.IO) (string, error) {
		bus := &i2ctest.Playback{Ops: ops, DontPanic: true}
		chip := tmp102{registers{i2c.Dev{Bus: bus, Addr: 0x49}}}
		celsius, err := chip.celsius(t.Context())
		if e := bus.Close(); e != nil {
			t.Error(e)
		}
		return tenths(celsius), err
	}
	start := []i2ctest.IO{
		{Addr: 0x49, W: []byte{1, 0x61, 0x80}},
		{Addr: 0x49, W: []byte{1, 0xe1, 0x80}},
	}
	busy := i2ctest.IO{Addr: 0x49, W: []byte{1}, R: []byte{0x61, 0xa0}}
	tests := map[string]struct {
		ops  []i2ctest.IO
		want string
		err  error
	}{
		"after a second look": {[]i2ctest.IO{
			busy,
			{Addr: 0x49, W: []byte{1}, R: []byte{0xe1, 0x80}},
			{Addr: 0x49, W: []byte{0}, R: []byte{0x15, 0x80}},
		}, "21.5", nil},
		"never ready":  {[]i2ctest.IO{busy, busy, busy, busy, busy, busy, busy, busy, busy}, "", errNotReady},
		"another chip": {[]i2ctest.IO{{Addr: 0x49, W: []byte{1}, R: []byte{0xff, 0xff}}}, "", errStrange},
		"lost power":   {[]i2ctest.IO{{Addr: 0x49, W: []byte{1}, R: []byte{0x60, 0xa0}}}, "", errStrange},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := on(t, append(append([]i2ctest.IO{}, start...), c.ops...)...)
				if !errors.Is(err, c.err) || (err == nil && got != c.want) {
					t.Errorf("reads %q, %v", got, err)
				}
			})
		})
	}
}

func TestTemperatureIsFresh(t *testing.T) {
	on(t, func(b *bench) {
		for _, c := range []struct {
			celsius float64
			want    string
		}{{21.5, "21.5"}, {31.46, "31.4"}, {-3.99, "-4"}, {0.02, "0"}} {
			b.chip.SetTemperature(c.celsius)
			began := time.Now()
			s := b.status(drivers.SubTemperature)
			if s.Value != c.want || time.Since(began) > tooLong {
				b.Errorf("%g °C is %q after %v", c.celsius, s.Value, time.Since(began))
			}
		}
		b.chip.SetTemperature(130)
		if s := b.status(drivers.SubTemperature); s.Err == nil {
			b.Errorf("130 °C is %q", s.Value)
		}
	})
}
