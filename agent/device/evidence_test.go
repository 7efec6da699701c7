package device

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/drivers"
)

// TestEvidenceIsOfTheCommand: what a driver saw before a command, or says it could
// not see, proves nothing; nor does a value that the command does not lead to.
func TestEvidenceIsOfTheCommand(t *testing.T) {
	for name, c := range map[string]struct {
		fault string
		late  time.Duration
		err   error
		state State
		why   string
	}{
		"read back":           {"", 0, nil, Done, ""},
		"seen before":         {"", -time.Second, nil, Failed, "older than the command"},
		"could not be seen":   {"", 0, fmt.Errorf("%w: the ring says null", drivers.ErrNoValue), Failed, "the ring says null"},
		"wires are disturbed": {"", 0, errors.New("checksum is wrong"), Failed, "checksum is wrong"},
		"says otherwise":      {"contrary", 0, nil, Failed, "reported as off"},
	} {
		bubble(t, func(t *testing.T) {
			r := startRig(t, rigOptions{})
			r.wait(3 * time.Second)
			r.bench["light-1"].Set(c.fault)
			r.bench["light-1"].Prove(c.late, c.err)
			got, err := r.Do(t.Context(), Command{Space: room, DeviceType: drivers.TypeLight, Action: drivers.ActOn})
			if got.State != c.state || !strings.Contains(got.Reason, c.why) || (got.Evidence != nil) != (c.state == Done) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		})
	}
}
