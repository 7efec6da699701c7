package sim

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world returns a world with the parts, all of the device "thing" in "Aurora".
func world(t *testing.T, parts ...Part) *World {
	t.Helper()
	w := NewWorld()
	t.Cleanup(w.Close)
	for _, p := range parts {
		if err := w.Add("Aurora", "thing", p); err != nil {
			t.Fatal(err)
		}
	}
	return w
}
