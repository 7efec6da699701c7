package drivertest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/sim"
)

// flawVar tells the test that it runs on a flawed candle.
const flawVar = "DRIVERTEST_FLAW"

func TestSuite(t *testing.T) {
	var lamp *sim.Lamp
	drivertest.Run(t, drivertest.Case{
		Kind: candleKind(),
		Options: func() drivers.Options {
			return &candleOptions{Channel: "wick", Frequency: 1000, Flaw: os.Getenv(flawVar)}
		},
		Parts: func() []sim.Part {
			lamp = &sim.Lamp{PWM: "wick"}
			return []sim.Part{lamp}
		},
		Bad: []drivertest.Bad{
			{Field: "frequency", Change: func(o drivers.Options) { o.(*candleOptions).Frequency = 0 }},
		},
		Safe:     map[string]float64{"wick": 0},
		Blocking: true,
		Silences: []drivertest.Silence{{By: "unplug", Back: "plug", Names: "wick", Within: 10 * time.Second}},
		Confirm: func(t *testing.T, c drivers.Command, s drivers.Status) {
			if lit := lamp.Brightness() > 0; lit != (s.Value == drivers.On) {
				t.Errorf("after %s the lamp is lit: %t, the value %s", c.Action, lit, s.Value)
			}
		},
	})
}

// Each flaw must fail the check that is there for it.
func TestSuiteFindsFlaws(t *testing.T) {
	flaws := map[string]string{
		"frequency goes unchecked": "options",
		"flashes at start":         "open",
		"lacks an action":          "describe",
		"description changes":      "describe",
		"hides errors":             "unplug",
		"stays offline":            "unplug",
		"does not say what fails":  "silence",
		"remembers":                "silence",
		"told late":                "commands",
		"says lit":                 "poll",
		"does not say when":        "poll",
		"obeys late commands":      "unknown",
		"takes any action":         "unknown",
		"does not go out":          "commands",
		"watches for ever":         "watch",
		"keeps burning":            "close",
		"keeps its channel":        "reopen",
		"closes once":              "close",
		"leaves a goroutine":       "close",
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for flaw, check := range flaws {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			run := exec.CommandContext(t.Context(), self, "-test.run=^TestSuite$/^"+check+"$")
			run.Env = append(os.Environ(), flawVar+"="+flaw)
			out, err := run.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "TestSuite/"+check) && !strings.Contains(string(out), "goroutine") {
				t.Errorf("the suite does not find it: %v\n%s", err, out)
			}
		})
	}
}
