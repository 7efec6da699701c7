package session

import (
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		0: 500 * time.Millisecond, 1: time.Second, 4: 8 * time.Second, 5: 15 * time.Second, 1000: 15 * time.Second,
	} {
		seen := map[time.Duration]bool{}
		for range 50 {
			d := backoff(failures)
			seen[d] = true
			if d < want/2 || d > want {
				t.Errorf("after %d failures: %s, want %s to %s", failures, d, want/2, want)
			}
		}
		if len(seen) < 25 {
			t.Errorf("after %d failures: only %d different waits of 50", failures, len(seen))
		}
	}
}
