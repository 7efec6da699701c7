package sim

import (
	"fmt"
	"slices"

	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"

	"roomgate/drivers"
)

// spiChip takes the bytes of one transfer and says what it sends meanwhile.
type spiChip interface {
	shift(w []byte, mode spi.Mode, frequency physic.Frequency) (r []byte)
}

type spiPort struct {
	holder
	name   string
	faults *Faults
	chip   spiChip
}

// plugIn puts a chip on a port.
func (w *World) plugIn(port string, f *Faults, c spiChip) error {
	return place(w, w.spi, port, &spiPort{name: port, faults: f, chip: c})
}

// SPI takes a port. The frequency must lie from 1 kHz to 50 MHz.
func (w *World) SPI(port string, frequency physic.Frequency, mode spi.Mode) (drivers.SPI, error) {
	if frequency < physic.KiloHertz || frequency > 50*physic.MegaHertz {
		return nil, fmt.Errorf("%s: frequency %s is out of range: want 1 kHz to 50 MHz", port, frequency)
	}
	p, err := find(w, w.spi, port)
	if err != nil {
		return nil, err
	}
	if err := p.take(port); err != nil {
		return nil, err
	}
	return &spiConn{grip: newGrip(&p.holder), port: p, mode: mode, frequency: frequency}, nil
}

type spiConn struct {
	grip
	port      *spiPort
	mode      spi.Mode
	frequency physic.Frequency
}

// Tx fails if the lengths differ. A disturbed transfer arrives wrong, and
// nothing on the bus can tell.
func (c *spiConn) Tx(w, r []byte) error {
	if r != nil && len(r) != len(w) {
		return fmt.Errorf("%s: %d bytes out, %d in: give both the same length", c.port.name, len(w), len(r))
	}
	garbled, err := c.port.faults.pass(c.port.name, c.closed)
	if err != nil {
		return err
	}
	out := slices.Clone(w)
	if garbled {
		for i := range out {
			out[i] ^= 0x55
		}
	}
	copy(r, c.port.chip.shift(out, c.mode, c.frequency))
	return nil
}
