package update

import (
	"strings"
	"testing"
)

// TestUnsignedReleaseEndsNoGateway: somebody wrote into the state that a release
// waits for its trial. The gateway goes on, and says what it has given up.
func TestUnsignedReleaseEndsNoGateway(t *testing.T) {
	r := settled(t)
	put(t, r.in(stateFile), []byte(`{"current":{"version":"1.2.0"},"newest":"1.2.0","next":{"version":"9.9.9"}}`))
	if err := r.Begin(true); err == nil || !strings.Contains(err.Error(), "release 9.9.9 is given up") {
		t.Errorf("it begins: %v", err)
	}
	s := r.State()
	if s.Next != nil || s.Trial != nil || len(s.NotStarted) != 1 || s.NotStarted[0].Version != "9.9.9" {
		t.Errorf("afterwards: %+v", s)
	}
}
