package host

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"unsafe"

	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

// From include/uapi/linux/i2c-dev.h and i2c.h.
const (
	i2cTransfer = 0x0707 // I2C_RDWR
	i2cRead     = 1      // I2C_M_RD
)

type i2cMessage struct {
	addr, flags, size uint16
	data              *byte
}

type i2cMessages struct {
	first *i2cMessage
	count uint32
}

var i2cName = regexp.MustCompile(`^i2c-\d{1,4}$`)

// bus is an I2C bus that drivers share. The transfer is an ioctl of our own:
// the library hides the kernel's reason in a text, and hands the kernel
// addresses of a stack that may have moved.
type bus struct {
	file *os.File
	lane *lane
}

var _ i2c.Bus = (*bus)(nil)

// I2C returns a bus; every driver that asks gets the same one.
func (b *Board) I2C(name string) (i2c.Bus, error) {
	if !i2cName.MatchString(name) {
		return nil, fmt.Errorf("I2C bus %q: %w, want a name of /dev as i2c-1", name, drivers.ErrNoLine)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if open, ok := b.buses[name]; ok {
		return open, nil
	}
	f, err := os.OpenFile(filepath.Join(b.dev, name), os.O_RDWR, 0)
	if err != nil {
		return nil, explain("bus "+name, err)
	}
	b.buses[name] = &bus{file: f, lane: newLane("bus " + name)}
	return b.buses[name], nil
}

// String is the bus by its name.
func (b *bus) String() string { return b.lane.name }

// SetSpeed is refused: it would change the speed for every device on the bus.
func (*bus) SetSpeed(physic.Frequency) error {
	return errors.New("the speed of an I2C bus belongs to the board's configuration")
}

// Tx writes w and then reads r in one transaction. A chip that does not
// acknowledge is drivers.ErrOffline.
func (b *bus) Tx(addr uint16, w, r []byte) error {
	if len(w) > math.MaxUint16 || len(r) > math.MaxUint16 {
		return fmt.Errorf("%s: %d bytes to write and %d to read are too many", b.lane.name, len(w), len(r))
	}
	out, in := bytes.Clone(w), make([]byte, len(r))
	if err := b.lane.run(func() error { return b.transfer(addr, out, in) }); err != nil {
		return absent(fmt.Sprintf("%s address %#x", b.lane.name, addr), err)
	}
	copy(r, in)
	return nil
}

func (b *bus) transfer(addr uint16, w, r []byte) error {
	var messages []i2cMessage
	if len(w) > 0 {
		messages = append(messages, i2cMessage{addr: addr, size: uint16(len(w)), data: &w[0]})
	}
	if len(r) > 0 {
		messages = append(messages, i2cMessage{addr: addr, flags: i2cRead, size: uint16(len(r)), data: &r[0]})
	}
	if len(messages) == 0 {
		return nil
	}
	all := i2cMessages{first: unsafe.SliceData(messages), count: uint32(len(messages))}
	raw, err := b.file.SyscallConn()
	if err != nil {
		return err
	}
	var fault error
	err = raw.Control(func(fd uintptr) { fault = ioctl(fd, i2cTransfer, &all) })
	return errors.Join(err, fault)
}

// absent tells a chip that does not acknowledge from a bus that fails. Which
// of the two errors a controller has for it is the controller's choice.
func absent(what string, err error) error {
	switch {
	case errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.EREMOTEIO):
		return fmt.Errorf("%s: %w: %w", what, drivers.ErrOffline, err)
	case errors.Is(err, os.ErrClosed):
		return fmt.Errorf("%s: %w", what, drivers.ErrClosed)
	}
	return fmt.Errorf("%s: %w", what, err)
}
