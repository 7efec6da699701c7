package sim

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// The commands of the SHT3x-DIS that are here, two bytes each (Sensirion,
// Datasheet SHT3x-DIS, section 4).
const (
	shtSoftReset   = 0x30A2
	shtStatus      = 0xF32D
	shtClearStatus = 0x3041
)

// The bits of its status register.
const (
	shtCommandFailed = 1 << 1
	shtResetDetected = 1 << 4
)

const (
	sht31Address = 0x44 // with ADDR at ground
	humidity     = 45.0 // %
)

// SHT31 is Sensirion's sensor of temperature and humidity on I2C: single shot
// without clock stretching in its three repeatabilities, the status register
// and the soft reset. It does not acknowledge a read while it measures, nor
// when it has nothing to say. Periodic measurement, clock stretching, heater
// and alert are not there.
type SHT31 struct {
	Faults  `yaml:"-"`
	Bus     string `yaml:"i2c"`
	Address uint16 `yaml:"address"` // 0x44 if 0

	mu      sync.Mutex
	ambient float64   // °C
	ready   time.Time // when the measurement ends; zero for none
	status  uint16
	answer  []byte // to the next read, nil for none
}

// Subjects are its sub-devices.
func (*SHT31) Subjects() []string { return []string{"temperature"} }

// Attach wires it into the world.
func (c *SHT31) Attach(w *World) error {
	if c.Address == 0 {
		c.Address = sht31Address
	}
	if c.Address != 0x44 && c.Address != 0x45 {
		return fmt.Errorf("address %#x is out of range: want 0x44 or 0x45", c.Address)
	}
	c.ambient, c.status = room, shtResetDetected
	return w.solder(c.Bus, c.Address, &c.Faults, c)
}

// SetTemperature makes the chip's surroundings so warm, in °C.
func (c *SHT31) SetTemperature(celsius float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ambient = celsius
}

// refuses says that the chip does not acknowledge a transaction.
func (c *SHT31) refuses(w, r []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	busy := time.Now().Before(c.ready)
	if len(w) > 0 {
		return busy
	}
	return len(r) > 0 && (busy || c.answer == nil && c.ready.IsZero())
}

// tx takes a command, or answers to the last one.
func (c *SHT31) tx(w, r []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(w) >= 2 {
		c.command(uint16(w[0])<<8 | uint16(w[1]))
	}
	if len(r) == 0 {
		return
	}
	if !c.ready.IsZero() { // it has been measured
		raw := func(v float64) uint16 { return uint16(max(0, min(65535, math.Round(v*65535)))) }
		c.answer = append(word(raw((c.ambient+45)/175)), word(raw(humidity/100))...)
		c.ready = time.Time{}
	}
	for i := range r {
		r[i] = 0xFF // nobody drives the bus after the last byte
	}
	copy(r, c.answer)
	c.answer = nil
}

func (c *SHT31) command(code uint16) {
	c.ready, c.answer = time.Time{}, nil
	c.status &^= shtCommandFailed
	switch code {
	case 0x2400:
		c.ready = time.Now().Add(12500 * time.Microsecond)
	case 0x240B:
		c.ready = time.Now().Add(4500 * time.Microsecond)
	case 0x2416:
		c.ready = time.Now().Add(2500 * time.Microsecond)
	case shtStatus:
		c.answer = word(c.status)
	case shtClearStatus:
		c.status = 0
	case shtSoftReset:
		c.status = shtResetDetected
	default:
		c.status |= shtCommandFailed
	}
}

// word is a value as the chip sends it: two bytes and their checksum.
func word(v uint16) []byte {
	b := []byte{byte(v >> 8), byte(v)}
	return append(b, checksum(b))
}

// checksum divides by x^8 + x^5 + x^4 + 1, beginning with all ones.
func checksum(data []byte) byte {
	sum := uint16(0xFF)
	for _, b := range data {
		sum ^= uint16(b)
		for range 8 {
			if sum <<= 1; sum > 0xFF {
				sum ^= 0x131
			}
		}
	}
	return byte(sum)
}

// Verbs are what it obeys.
func (c *SHT31) Verbs(string) []Verb { return warmth(-45, 130, c.SetTemperature) }

// State says how it is.
func (c *SHT31) State() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("%g °C", c.ambient)
}
