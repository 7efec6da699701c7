package booking

import (
	"strings"
	"testing"
)

// TestLongestNames: lengths are counted beside the patterns, those of an address in characters.
func TestLongestNames(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{0: false, 1: true, 128: true, 129: false} {
		if got := isID(strings.Repeat("a", n)); got != want {
			t.Errorf("an id of %d bytes: %v", n, got)
		}
	}
	long, host := strings.Repeat("ä", 64), strings.Repeat("h", 189)
	for s, want := range map[string]bool{
		long + "@" + host: true, "ä" + long + "@" + host: false, long + "@h" + host: false,
		"@" + host: false, long + "@": false, long: false, "a@b@c": false, "a b@c": false,
	} {
		if got := isEmail(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}
