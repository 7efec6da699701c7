package peers

import (
	"testing"

	"go.uber.org/goleak"

	"roomgate/drivers/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world returns a world with the parts, all of the device "thing" in "Aurora".
func world(t *testing.T, parts ...sim.Part) *sim.World {
	t.Helper()
	w := sim.NewWorld()
	t.Cleanup(w.Close)
	for _, p := range parts {
		if err := w.Add("Aurora", "thing", p); err != nil {
			t.Fatal(err)
		}
	}
	return w
}
