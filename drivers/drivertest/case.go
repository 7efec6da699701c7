// Package drivertest is the one conformance suite that every driver passes:
// it opens the driver on a simulated part, in virtual time or behind a real
// kernel, and asks of it what drivers.Driver and drivers.Options promise.
package drivertest

import (
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"roomgate/drivers"
	"roomgate/drivers/sim"
)

// space is where the suite puts the parts.
const space = "room"

// Case is a driver with the hardware that it is for. Everything but Kind,
// Options and Parts may be left out.
type Case struct {
	Kind drivers.Kind
	// Options returns options that fit Parts; nil means the defaults.
	Options func() drivers.Options
	// Parts returns the hardware, new for each test.
	Parts func() []sim.Part
	// Bad are options that Check must refuse, naming the field.
	Bad []Bad
	// Safe is the level of outputs (0 or 1) and PWM channels (0 to 1) that
	// Open must reach without leaving it again, and Close must leave behind.
	Safe map[string]float64
	// Blocking says that the driver goes to a bus that takes no context, so
	// that a stuck part keeps Poll and Watch beyond their deadline. They must
	// then return once the part answers again.
	Blocking bool
	// Unfitted are sub-devices that the device has no hardware for: they take
	// no commands, and their status has an error that wraps ErrUnsupported.
	Unfitted []string
	// Silences are the ways in which a fact ends alone: at least one of each
	// sub-device that is fitted, unless Skip says why not.
	Silences []Silence
	// Reports says that the device sends what it is, and obeys "disorder" in the simulated
	// world: its reports may overtake each other.
	Reports bool
	// Confirm looks at the hardware after a command was carried out.
	Confirm func(t *testing.T, c drivers.Command, s drivers.Status)
	// Rig returns the board between the driver and a world with the parts. Nil
	// is the world itself, in virtual time; with a board time is real.
	Rig func(t *testing.T, w *sim.World) Rig
	// Skip names checks that do not apply, each with the reason: the keys are
	// names of subtests, as "garble", or "silence" and a sub-device.
	Skip map[string]string
}

// Bad is a change to good options that must be refused.
type Bad struct {
	Field  string                // the yaml field that the error must name
	Change func(drivers.Options) // gets what Case.Options returned
}

// Run runs the suite, each check as a subtest in a bubble of its own.
func Run(t *testing.T, c Case) {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, check := range checks() {
		t.Run(check.name, func(t *testing.T) {
			if why := c.Skip[check.name]; why != "" {
				t.Skip(why)
			}
			if c.Rig != nil {
				check.run(newBench(t, c))
				return
			}
			synctest.Test(t, func(t *testing.T) { check.run(newBench(t, c)) })
		})
	}
}

type check struct {
	name string
	run  func(*bench)
}

// checks are the suite.
func checks() []check {
	return []check{
		{"describe", describe},
		{"options", options},
		{"open", openQuietly},
		{"poll", poll},
		{"commands", commands},
		{"unknown", unknown},
		{"unplug", unplug},
		{"garble", garble},
		{"stick", stick},
		{"delay", delay},
		{"silence", silence},
		{"disorder", disorder},
		{"close", closeTwice},
		{"reopen", reopen},
		{"watch", watch},
	}
}
