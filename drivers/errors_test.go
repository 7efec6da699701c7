package drivers_test

import (
	"strings"
	"testing"

	"roomgate/drivers"
	"roomgate/drivers/all"
	"roomgate/drivers/lock"
	"roomgate/drivers/o3"
)

// TestUnknownSaysTheValue: who wrote a word that an option does not take reads it again.
func TestUnknownSaysTheValue(t *testing.T) {
	options := map[string]drivers.Options{}
	for _, k := range all.All() {
		options[k.Name] = k.Options()
	}
	door, ok := options["lock-relay"].(*lock.Options)
	hub, okay := options["o3-mqtt"].(*o3.Options)
	if !ok || !okay {
		t.Fatalf("the options are %T and %T", options["lock-relay"], options["o3-mqtt"])
	}
	door.Relay, door.Mode = "GPIO17", "puls"
	hub.Address, hub.Temperature = "10.0.0.31:1883", "air"
	for want, o := range map[string]drivers.Options{
		`mode is "puls": want pulse or hold`: door,
		`temperature is "air": want one of `: hub,
	} {
		if err := o.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := drivers.Unknown("mode", "", "pulse or hold"); err.Error() != "mode is missing: want pulse or hold" {
		t.Error(err)
	}
}
