package sim

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// The registers of the TMP102, by the two low bits of the pointer byte
// (TI SBOS397, "Pointer Register").
const (
	regTemperature = iota // read only
	regConfig
	regLow
	regHigh
)

// The bits of the configuration register, first byte high.
const (
	bitOneShot   = 1 << 15
	bitsReadOnly = 1<<14 | 1<<13 // R1 R0: always 11, the converter has 12 bits
	bitPolarity  = 1 << 10
	bitShutdown  = 1 << 8
	bitAlert     = 1 << 5 // read only
	bitExtended  = 1 << 4 // EM: 13 bits
	bitsUnused   = 1<<3 | 1<<2 | 1<<1 | 1<<0

	powerUpConfig = 0x60A0
	powerUpLow    = 0x4B00 // 75 °C
	powerUpHigh   = 0x5000 // 80 °C
)

// conversion is how long the converter takes, typically.
const conversion = 26 * time.Millisecond

// tmp102Address is the chip's address with ADD0 at ground.
const tmp102Address = 0x48

// TMP102 is TI's temperature sensor on I2C: pointer register, temperature in
// 12 or 13 bits of 0.0625 °C, the four conversion rates, shutdown and
// one-shot, and the alert bit in comparator mode with a fault queue of one.
// The alert pin and the general call are not there.
type TMP102 struct {
	Faults  `yaml:"-"`
	Bus     string `yaml:"i2c"`
	Address uint16 `yaml:"address"` // 0x48 if 0

	mu        sync.Mutex
	ambient   float64 // °C
	pointer   byte
	config    uint16
	low, high uint16
	reading   float64 // °C, of the last conversion
	converted time.Time
	epoch     time.Time // continuous conversions are counted from here
	shot      time.Time // when the running one-shot started; zero for none
	alert     bool
}

// Subjects are its sub-devices.
func (*TMP102) Subjects() []string { return []string{"temperature"} }

// Attach wires it into the world.
func (c *TMP102) Attach(w *World) error {
	if c.Address == 0 {
		c.Address = tmp102Address
	}
	if c.Address < 0x48 || c.Address > 0x4B {
		return fmt.Errorf("address %#x is out of range: want 0x48 to 0x4b", c.Address)
	}
	c.powerUp(time.Now())
	return w.solder(c.Bus, c.Address, &c.Faults, c)
}

func (c *TMP102) powerUp(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ambient, c.reading = room, 0
	c.config, c.low, c.high = powerUpConfig, powerUpLow, powerUpHigh
	c.pointer, c.epoch, c.converted = regTemperature, now, now
	c.shot, c.alert = time.Time{}, false
}

// SetTemperature makes the chip's surroundings so warm, in °C.
func (c *TMP102) SetTemperature(celsius float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.convert(time.Now())
	c.ambient = celsius
}

// tx is one transaction: the pointer, then up to two bytes to the register;
// or a read of the register to which the pointer was last set.
func (c *TMP102) tx(w, r []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.convert(now)
	if len(w) > 0 {
		c.pointer = w[0] & 3
	}
	for i, b := range w[min(len(w), 1):min(len(w), 3)] {
		c.write(i, b, now)
	}
	v := c.register()
	for i := range r {
		r[i] = 0xFF // nobody drives the bus after the second byte
		if i < 2 {
			r[i] = byte(v >> (8 - 8*i))
		}
	}
}

// write lays one byte over the register; i is 0 for the high one.
func (c *TMP102) write(i int, b byte, now time.Time) {
	put := func(reg *uint16) {
		shift := 8 - 8*i
		*reg = *reg&^(0xFF<<shift) | uint16(b)<<shift
	}
	switch c.pointer {
	case regConfig:
		c.configure(put, now)
	case regLow:
		put(&c.low)
	case regHigh:
		put(&c.high)
	}
}

func (c *TMP102) configure(put func(*uint16), now time.Time) {
	old, next := c.config, c.config&^bitOneShot
	put(&next)
	start := next&bitOneShot != 0
	c.config = next&^(bitOneShot|bitAlert|bitsUnused) | bitsReadOnly
	switch down := c.config&bitShutdown != 0; {
	case down && start:
		c.shot = now
	case !down && old&bitShutdown != 0:
		c.epoch, c.shot = now, time.Time{} // wakes and converts at once
	case down && old&bitShutdown == 0:
		c.shot = time.Time{}
	}
}

// register is what the pointer points to.
func (c *TMP102) register() uint16 {
	switch c.pointer {
	case regTemperature:
		return c.encode(c.reading)
	case regLow:
		return c.low
	case regHigh:
		return c.high
	}
	v := c.config &^ bitAlert
	if v&bitShutdown != 0 && c.shot.IsZero() {
		v |= bitOneShot // the converter is idle: a one-shot is over
	}
	if c.alert == (v&bitPolarity != 0) {
		v |= bitAlert
	}
	return v
}

// encode is the temperature as the register has it.
func (c *TMP102) encode(celsius float64) uint16 {
	steps := math.Round(celsius / 0.0625)
	if c.config&bitExtended != 0 {
		return uint16(int16(max(-4096, min(4095, steps))))<<3 | 1
	}
	return uint16(int16(max(-2048, min(2047, steps)))) << 4
}

// limit is a limit register in °C.
func (c *TMP102) limit(v uint16) float64 {
	if c.config&bitExtended != 0 {
		return float64(int16(v)>>3) * 0.0625
	}
	return float64(int16(v)>>4) * 0.0625
}

// convert makes up the last conversion that has ended by now. The ambient
// temperature has not changed since the last call.
func (c *TMP102) convert(now time.Time) {
	at := c.lastConversion(now)
	if !at.After(c.converted) {
		return
	}
	c.converted, c.reading = at, c.ambient
	switch {
	case c.reading >= c.limit(c.high):
		c.alert = true
	case c.reading < c.limit(c.low):
		c.alert = false
	}
}

// lastConversion is when the last one ended, zero if none did.
func (c *TMP102) lastConversion(now time.Time) time.Time {
	if c.config&bitShutdown != 0 {
		end := c.shot.Add(conversion)
		if c.shot.IsZero() || end.After(now) {
			return time.Time{}
		}
		c.shot = time.Time{}
		return end
	}
	periods := []time.Duration{4 * time.Second, time.Second, 250 * time.Millisecond, 125 * time.Millisecond}
	period := periods[c.config>>6&3] // CR1 CR0: 0.25, 1, 4, 8 Hz
	passed := now.Sub(c.epoch) - conversion
	if passed < 0 {
		return time.Time{}
	}
	return c.epoch.Add(conversion + passed/period*period)
}

// Verbs are what it obeys.
func (c *TMP102) Verbs(string) []Verb { return warmth(-55, 150, c.SetTemperature) }

// State says how it is.
func (c *TMP102) State() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("%g °C", c.ambient)
}
