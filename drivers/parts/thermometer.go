package parts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"periph.io/x/conn/v3/i2c"

	"roomgate/drivers"
)

const (
	coldest = -40 // °C, what all the chips are specified for
	hottest = 125
)

var (
	errNotReady = errors.New("conversion is not ready")
	errStrange  = errors.New("answer is not this chip's: look for disturbed wires or another chip")
)

// chip is a thermometer on I2C.
type chip interface {
	// celsius measures once, now, and returns the temperature in °C.
	celsius(ctx context.Context) (float64, error)
}

// model is a chip as the options name it.
type model struct {
	name        string
	first, last uint16 // its addresses; the first is the usual one
	open        func(i2c.Dev) chip
}

// models are the chips that the driver knows.
func models() []model {
	return []model{
		{"tmp102", 0x48, 0x4b, func(d i2c.Dev) chip { return &tmp102{registers{d}} }},
		{"sht31", 0x44, 0x45, func(d i2c.Dev) chip { return &sht31{d} }},
		{"mcp9808", 0x18, 0x1f, func(d i2c.Dev) chip { return &mcp9808{registers{d}} }},
	}
}

// registers are those of a chip that has them 16 bits wide, high byte first.
type registers struct{ dev i2c.Dev }

func (g registers) read(reg byte) (uint16, error) {
	var r [2]byte
	if err := g.dev.Tx([]byte{reg}, r[:]); err != nil {
		return 0, err
	}
	return uint16(r[0])<<8 | uint16(r[1]), nil
}

func (g registers) write(reg byte, v uint16) error {
	return g.dev.Tx([]byte{reg, byte(v >> 8), byte(v)}, nil)
}

// settle gives a chip time to measure.
func settle(ctx context.Context, d time.Duration) error {
	if !pause(ctx, d) {
		return context.Cause(ctx)
	}
	return nil
}

// inRange refuses a temperature that the chips do not measure.
func inRange(c float64) (float64, error) {
	if c < coldest || c > hottest {
		return 0, fmt.Errorf("temperature %g °C is out of range: want %d to %d", c, coldest, hottest)
	}
	return c, nil
}

// thermometer is the sub-device.
type thermometer struct {
	chip chip
	name string // "tmp102 0x48"
}

func (t *thermometer) describe() drivers.SubDevice {
	return drivers.SubDevice{
		Name:    drivers.SubTemperature,
		Summary: "how warm the room is",
		Unit:    "°C",
	}
}

func (t *thermometer) title() string { return t.name }

func (t *thermometer) poll(ctx context.Context) drivers.Status {
	c, err := t.chip.celsius(ctx)
	if err != nil {
		return drivers.Status{Err: fmt.Errorf("%s: %w", t.name, err)}
	}
	return drivers.Status{Value: tenths(c), ObservedAt: time.Now(), Source: t.name}
}

// tenths writes a temperature with at most one decimal, and never "-0".
func tenths(c float64) string {
	return strconv.FormatFloat(math.Round(c*10)/10+0, 'f', -1, 64)
}

func (t *thermometer) do(context.Context, drivers.Command) (drivers.Status, error) {
	return drivers.Status{}, drivers.ErrUnsupported
}

// close leaves the chip at rest, as every reading does.
func (t *thermometer) close() error { return nil }
