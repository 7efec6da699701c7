package device

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/drivers"
)

// TestWhatADeviceSaysIsBelievedAtOnce: a device that says that it has no value
// has none from then on, whatever it is; only silence is counted.
func TestWhatADeviceSaysIsBelievedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		polls int // until it is offline
	}{
		"jammed":        {fmt.Errorf("%w: the lock is jammed", drivers.ErrNoValue), 1},
		"no thermistor": {fmt.Errorf("temperature: %w", drivers.ErrNoValue), 1},
		"not there":     {fmt.Errorf("address 0x48: %w", drivers.ErrOffline), 1},
		"disturbed":     {errors.New("checksum is wrong"), 3},
	} {
		bubble(t, func(t *testing.T) {
			r := startRig(t, rigOptions{})
			r.wait(time.Second)
			before, _ := r.statusOf(room, drivers.TypeO3, drivers.SubTemperature)
			r.bench["hub-1"].Lose(drivers.SubTemperature, c.err)
			for n := 1; n <= 4; n++ {
				r.wait(2 * time.Second)
				got, _ := r.statusOf(room, drivers.TypeO3, drivers.SubTemperature)
				if (got.Status == Offline) != (n >= c.polls) {
					t.Errorf("%s: after %d polls the temperature is %s", name, n, got.Status)
				}
				if got.Status == Offline && (got.Reason != c.err.Error() || !got.ObservedAt.Before(before.ObservedAt.Add(time.Second))) {
					t.Errorf("%s: offline because of %q, seen at %v", name, got.Reason, got.ObservedAt)
				}
				other, _ := r.statusOf(room, drivers.TypeO3, drivers.SubOccupancy)
				if other.Status != Online || time.Since(other.ObservedAt) > 2*time.Second {
					t.Errorf("%s: occupancy suffers too: %+v", name, other)
				}
			}
			if told := strings.Join(r.told()[7:], ", "); told != "deviceOffline temperature" {
				t.Errorf("%s: told %q", name, told)
			}
			r.bench["hub-1"].Lose("", nil)
			r.wait(2 * time.Second)
			if got := r.status(room, drivers.TypeO3, drivers.SubTemperature); got.Status != Normal {
				t.Errorf("%s: back it is %v", name, got)
			}
		})
	}
}

// TestLiesAreNotBelieved: what cannot be is no value, at once.
func TestLiesAreNotBelieved(t *testing.T) {
	for _, value := range []string{"", "unknown", "unavailable", "null", "NaN", "nan", "Inf", "1e9", "-273.2"} {
		bubble(t, func(t *testing.T) {
			r := startRig(t, rigOptions{})
			r.wait(time.Second)
			r.bench["hub-1"].Show(drivers.SubTemperature, value)
			r.wait(2 * time.Second)
			if got := r.status(room, drivers.TypeO3, drivers.SubTemperature); got != (Record{"temperature", "21.5", Offline}) {
				t.Errorf("a temperature of %q is %v", value, got)
			}
		})
	}
}
