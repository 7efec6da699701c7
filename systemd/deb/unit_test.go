package deb

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a service has in memory stays out of core dumps (systemd.exec(5)).
func TestServicesLeaveNoCore(t *testing.T) {
	units, err := filepath.Glob("../*.service")
	if err != nil || len(units) < 3 {
		t.Fatalf("units %v, %v", units, err)
	}
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		_, service, _ := strings.Cut(string(text), "[Service]\n")
		service, _, _ = strings.Cut(service, "\n[")
		if !slices.Contains(strings.Split(service, "\n"), "LimitCORE=0") {
			t.Errorf("%s has no LimitCORE=0", unit)
		}
	}
}
