package sim

import (
	"fmt"
	"syscall"

	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

// i2cChip answers the transactions to its address, byte by byte.
type i2cChip interface {
	tx(w, r []byte)
}

// refuser is a chip that does not always acknowledge its address.
type refuser interface {
	refuses(w, r []byte) bool
}

// i2cBus is two wires with chips on them. A stuck chip holds the whole bus, as
// one that keeps the clock low does.
type i2cBus struct {
	name  string
	world *World
	busy  chan struct{} // holds one token while a transaction runs
	chips map[uint16]wiredChip
}

type wiredChip struct {
	faults *Faults
	chip   i2cChip
}

// solder puts a chip on a bus, which is made on first use.
func (w *World) solder(bus string, addr uint16, f *Faults, c i2cChip) error {
	if bus == "" || addr < 0x08 || addr > 0x77 {
		return fmt.Errorf("i2c bus %q address %#x is not usable: name a bus, and an address from 0x08 to 0x77", bus, addr)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.i2c[bus]
	if b == nil {
		b = &i2cBus{name: bus, world: w, busy: make(chan struct{}, 1), chips: map[uint16]wiredChip{}}
		w.i2c[bus] = b
	}
	if _, ok := b.chips[addr]; ok {
		return fmt.Errorf("%s address %#x: %w by another part", bus, addr, drivers.ErrInUse)
	}
	b.chips[addr] = wiredChip{f, c}
	return nil
}

// I2C returns a bus, which drivers share.
func (w *World) I2C(bus string) (i2c.Bus, error) {
	b, err := find(w, w.i2c, bus)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// String is the name of the bus.
func (b *i2cBus) String() string { return b.name }

// SetSpeed is refused: the speed belongs to the board.
func (b *i2cBus) SetSpeed(physic.Frequency) error {
	return fmt.Errorf("%s: speed is fixed by the board", b.name)
}

// Tx writes, then reads. An address that nobody acknowledges is ErrOffline.
func (b *i2cBus) Tx(addr uint16, w, r []byte) error {
	what := fmt.Sprintf("%s address %#x", b.name, addr)
	select {
	case b.busy <- struct{}{}:
	case <-b.world.done:
		return fmt.Errorf("%s: %w", what, drivers.ErrClosed)
	}
	defer func() { <-b.busy }()
	b.world.mu.Lock()
	c, ok := b.chips[addr]
	b.world.mu.Unlock()
	if !ok {
		return fmt.Errorf("%s: %w (%w)", what, drivers.ErrOffline, syscall.ENXIO)
	}
	garbled, err := c.faults.pass(what, nil)
	if err != nil {
		return err
	}
	if chip, ok := c.chip.(refuser); ok && chip.refuses(w, r) {
		return fmt.Errorf("%s does not acknowledge: %w", what, syscall.EREMOTEIO)
	}
	if garbled {
		return b.disturb(c, w, r)
	}
	c.chip.tx(w, r)
	return nil
}

// disturb reads with every bit turned over: I2C has no check of its own, only
// what the chip's registers keep fixed shows it. Writes reach nobody.
func (b *i2cBus) disturb(c wiredChip, w, r []byte) error {
	if len(r) == 0 {
		return disturbed(b.name)
	}
	c.chip.tx(w[:min(len(w), 1)], r)
	for i := range r {
		r[i] = ^r[i]
	}
	return nil
}
