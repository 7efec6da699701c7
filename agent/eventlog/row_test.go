package eventlog

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestStampIsTheLayout: a stamp is what time.Format writes by the layout.
func TestStampIsTheLayout(t *testing.T) {
	east := time.FixedZone("", 5*3600+1800)
	times := []time.Time{{}, time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 2, 29, 23, 30, 0, 1_999_999, east)}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		times = append(times, time.Unix(random.Int64N(250_000_000_000), random.Int64N(1e9)).In(east))
	}
	for _, at := range times {
		if got, want := Stamp(at), at.UTC().Format(TimeLayout); got != want {
			t.Fatalf("%v: %s, want %s", at, got, want)
		}
	}
}
