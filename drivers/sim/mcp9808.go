package sim

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// The registers of the MCP9808 by the low four bits of the pointer
// (Microchip DS25095A, register 5-1).
const (
	mcpConfig = iota + 1
	mcpUpper
	mcpLower
	mcpCritical
	mcpAmbient
	mcpMaker
	mcpDevice
	mcpResolution
)

const (
	mcp9808Address = 0x18 // A2 to A0 at ground
	mcpShutdown    = 1 << 8
	mcpSign        = 1 << 12
	mcpValue       = 1<<13 - 1
)

// MCP9808 is Microchip's temperature sensor on I2C: ambient register with its
// three limit bits, the limits, shutdown, resolution with the time that a
// conversion then takes, and what identifies it. Hysteresis, locks and the
// alert pin are not there.
type MCP9808 struct {
	Faults  `yaml:"-"`
	Bus     string `yaml:"i2c"`
	Address uint16 `yaml:"address"` // 0x18 if 0

	mu         sync.Mutex
	ambient    float64 // °C
	pointer    byte
	registers  [mcpResolution + 1]uint16
	reading    float64 // °C, of the last conversion
	epoch      time.Time
	resolution byte
}

// Subjects are its sub-devices.
func (*MCP9808) Subjects() []string { return []string{"temperature"} }

// Attach wires it into the world.
func (c *MCP9808) Attach(w *World) error {
	if c.Address == 0 {
		c.Address = mcp9808Address
	}
	if c.Address < 0x18 || c.Address > 0x1F {
		return fmt.Errorf("address %#x is out of range: want 0x18 to 0x1f", c.Address)
	}
	c.ambient = room
	c.PowerCycle()
	return w.solder(c.Bus, c.Address, &c.Faults, c)
}

// PowerCycle takes the supply away for a moment: the chip forgets everything
// and shows 0 °C until its first conversion.
func (c *MCP9808) PowerCycle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.registers = [mcpResolution + 1]uint16{mcpMaker: 0x0054, mcpDevice: 0x0400}
	c.pointer, c.resolution, c.reading, c.epoch = 0, 3, 0, time.Now()
}

// SetTemperature makes the chip's surroundings so warm, in °C.
func (c *MCP9808) SetTemperature(celsius float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.convert(time.Now())
	c.ambient = celsius
}

// tx is one transaction: the pointer, then the bytes of the register; or a
// read of the register to which the pointer was last set.
func (c *MCP9808) tx(w, r []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.convert(now)
	if len(w) > 0 {
		c.pointer = w[0] & 15
	}
	c.write(w[min(len(w), 1):], now)
	var answer []byte
	switch {
	case c.pointer == mcpResolution:
		answer = []byte{c.resolution}
	case c.pointer < mcpResolution:
		v := c.register()
		answer = []byte{byte(v >> 8), byte(v)}
	}
	for i := range r {
		r[i] = 0xFF // nobody drives the bus after the last byte
	}
	copy(r, answer)
}

func (c *MCP9808) write(data []byte, now time.Time) {
	switch {
	case c.pointer == mcpResolution && len(data) > 0:
		c.resolution, c.epoch = data[0]&3, now
	case len(data) < 2:
	case c.pointer == mcpConfig:
		v := uint16(data[0])<<8 | uint16(data[1])
		if v&mcpShutdown == 0 && c.registers[mcpConfig]&mcpShutdown != 0 {
			c.epoch = now // wakes and begins to convert
		}
		c.registers[mcpConfig] = v & 0x07EF
	case c.pointer >= mcpUpper && c.pointer <= mcpCritical:
		c.registers[c.pointer] = (uint16(data[0])<<8 | uint16(data[1])) & 0x1FFC
	}
}

// register is what the pointer points to.
func (c *MCP9808) register() uint16 {
	if c.pointer != mcpAmbient {
		return c.registers[c.pointer]
	}
	v := uint16(int16(math.Floor(c.reading*16))) & mcpValue &^ (1<<(3-c.resolution) - 1)
	limit := func(reg byte) float64 { return float64(int16(c.registers[reg]<<3)>>3) / 16 }
	for bit, out := range map[int]bool{
		15: c.reading >= limit(mcpCritical), 14: c.reading > limit(mcpUpper), 13: c.reading < limit(mcpLower),
	} {
		if out {
			v |= 1 << bit
		}
	}
	return v
}

// convert makes up the last conversion that has ended by now. The ambient
// temperature has not changed since the last call.
func (c *MCP9808) convert(now time.Time) {
	takes := []time.Duration{30, 65, 130, 250}[c.resolution] * time.Millisecond
	if c.registers[mcpConfig]&mcpShutdown != 0 || now.Sub(c.epoch) < takes {
		return
	}
	c.reading, c.epoch = c.ambient, c.epoch.Add(now.Sub(c.epoch)/takes*takes)
}

// Verbs are what it obeys.
func (c *MCP9808) Verbs(string) []Verb { return warmth(-40, 125, c.SetTemperature) }

// State says how it is.
func (c *MCP9808) State() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("%g °C", c.ambient)
}
