package tlsauthority

import (
	"strings"
	"testing"
)

// TestLongestLabel: lengths are counted beside the pattern.
func TestLongestLabel(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 63)
	for name, want := range map[string]bool{
		long + ".local": true, "a" + long + ".local": false, "gate." + long: true, "gate.a" + long: false, "local": false,
		strings.Repeat(long+".", 3) + strings.Repeat("b", 61): true, strings.Repeat(long+".", 3) + strings.Repeat("b", 62): false,
	} {
		if err := checkName(name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}
