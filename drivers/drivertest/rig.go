package drivertest

import (
	"testing/synctest"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/sim"
)

// Rig is the board that a driver is opened on, and what the suite wants to
// know about it. A simulated world is one.
type Rig interface {
	drivers.Buses
	// Log returns what was written to outputs and channels, oldest first. All
	// of it has reached the parts.
	Log() []sim.Transition
	// Held lists the lines, channels and ports that drivers hold, sorted.
	Held() []string
	Close()
}

// real says that the board is a kernel's and time is that of the wall.
func (b *bench) real() bool { return b.c.Rig != nil }

// settle waits until what was begun has had its effect.
func (b *bench) settle() {
	if b.real() {
		b.rig.Log()
		return
	}
	synctest.Wait()
}

// writes is how much was written so far.
func (b *bench) writes() int {
	b.settle()
	return len(b.rig.Log())
}

// pause is the time between two polls.
func (b *bench) pause() {
	if b.real() {
		time.Sleep(time.Second)
		return
	}
	time.Sleep(10 * time.Second)
}

// slack is how long something may take that takes no time.
func (b *bench) slack() time.Duration {
	if b.real() {
		return 200 * time.Millisecond
	}
	return 0
}
