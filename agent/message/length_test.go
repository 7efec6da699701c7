package message

import (
	"strings"
	"testing"
)

// TestLongestTopic: its length is counted beside the pattern.
func TestLongestTopic(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{0: false, 1: true, 64: true, 65: false} {
		if got := ValidTopic(strings.Repeat("a", n)); got != want {
			t.Errorf("a topic of %d bytes: %v", n, got)
		}
	}
}
