package parts

import (
	"context"
	"time"
)

// Registers of the MCP9808 (Microchip DS25095A, section 5), 16 bits but for
// the resolution.
const (
	regMCPConfig     = 0x01 // rw
	regMCPAmbient    = 0x05 // r  3 alert bits, sign, 12 bits of 1/16 °C
	regMCPMaker      = 0x06 // r  always 0x0054
	regMCPResolution = 0x08 // rw 8 bits, the low two count
)

const (
	mcpShutdown = 1 << 8 // configuration: no conversions; all else as after power-up
	mcpSign     = 1 << 12
	mcpMaker    = 0x0054
	// mcpEighths is 0.125 °C: enough for one decimal at half the time. It also
	// is a mark: power-up sets 3, so a chip that still has it kept its power.
	mcpEighths = 2
	// mcpConversion is 130 ms (section 1, "temperature conversion time",
	// typical; no maximum is given).
	mcpConversion = 200 * time.Millisecond
)

// mcp9808 is the chip. It has no single conversion: each reading wakes it for
// one and shuts it down again, so the register never holds an old value, and
// a chip that warms itself for nothing does not measure itself.
type mcp9808 struct{ registers }

func (m *mcp9808) celsius(ctx context.Context) (float64, error) {
	if err := m.dev.Tx([]byte{regMCPResolution, mcpEighths}, nil); err != nil {
		return 0, err
	}
	if err := m.write(regMCPConfig, 0); err != nil {
		return 0, err
	}
	if err := settle(ctx, mcpConversion); err != nil {
		return 0, err
	}
	raw, err := m.read(regMCPAmbient)
	if err != nil {
		return 0, err
	}
	if err := m.known(); err != nil {
		return 0, err
	}
	if err := m.write(regMCPConfig, mcpShutdown); err != nil {
		return 0, err
	}
	return mcpCelsius(raw)
}

// known says whether this is the chip, and one that kept its power.
func (m *mcp9808) known() error {
	maker, err := m.read(regMCPMaker)
	if err != nil {
		return err
	}
	var resolution [1]byte
	if err := m.dev.Tx([]byte{regMCPResolution}, resolution[:]); err != nil {
		return err
	}
	if maker != mcpMaker || resolution[0] != mcpEighths {
		return errStrange
	}
	return nil
}

// mcpCelsius turns the ambient register into °C (section 5.1.3). The lowest
// bit is 0 at this resolution.
func mcpCelsius(raw uint16) (float64, error) {
	if raw&1 != 0 {
		return 0, errStrange
	}
	c := float64(raw&(mcpSign-1)) / 16
	if raw&mcpSign != 0 {
		c -= 256
	}
	return inRange(c)
}
