package config

import (
	"strings"
	"testing"
	"time"
)

// TestZones: each zone that is advised is one, and who misspells one is told.
func TestZones(t *testing.T) {
	region, n := "", 0
	for _, word := range strings.Fields(zones) {
		if r, begins := strings.CutSuffix(word, ":"); begins {
			region = r + "/"
			continue
		}
		n++
		if _, err := time.LoadLocation(region + word); err != nil {
			t.Error(err)
		}
	}
	if n < 400 {
		t.Errorf("there are %d zones", n)
	}
	for wrong, want := range map[string]string{"Europe/Berln": "Europe/Berlin", "europe/berlin": "Europe/Berlin",
		"America/New York": "America/New_York", "America/Los Angeles": "America/Los_Angeles", "Mars/Base": "", "": ""} {
		if want != "" {
			want = `, did you mean "` + want + `"?`
		}
		if got := nearZone(wrong); got != want {
			t.Errorf("%q: got %q, want %q", wrong, got, want)
		}
	}
}
