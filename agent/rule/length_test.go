package rule

import (
	"strings"
	"testing"
)

// TestLongestEvent: its length is counted beside the pattern.
func TestLongestEvent(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{0: false, 1: true, 40: true, 41: false} {
		if got := isOwnEvent(strings.Repeat("a", n)); got != want {
			t.Errorf("an event with a name of %d bytes: %v", n, got)
		}
	}
}
