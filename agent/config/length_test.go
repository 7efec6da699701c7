package config

import (
	"strings"
	"testing"
)

// TestLongestNames: lengths are counted beside the patterns.
func TestLongestNames(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{0: false, 1: true, 64: true, 65: false} {
		if got := isID(strings.Repeat("a", n)); got != want {
			t.Errorf("an id of %d bytes: %v", n, got)
		}
	}
	for n, want := range map[int]bool{0: false, 1: true, 253: true, 254: false} {
		if got := isHostName(strings.Repeat("a", n)); got != want {
			t.Errorf("a name of %d bytes: %v", n, got)
		}
	}
}
