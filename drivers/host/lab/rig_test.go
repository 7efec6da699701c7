//go:build lab

package lab

import (
	"strconv"
	"strings"
	"testing"

	"roomgate/drivers"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/host"
	"roomgate/drivers/sim"
)

// rig is the machine's board with a world behind it.
type rig struct {
	*host.Board
	*outside
}

func newRig(t *testing.T, w *sim.World) drivertest.Rig {
	t.Helper()
	return wireUp(t, w)
}

func wireUp(t *testing.T, w *sim.World) *rig {
	t.Helper()
	o, err := attach(w)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{host.New(), o}
}

// Page is the one that the world's tablets show: no wire leads there.
func (r *rig) Page(name string) *drivers.Page { return r.world.Page(name) }

// Close gives the buses back and takes the world away.
func (r *rig) Close() {
	_ = r.Board.Close()
	r.outside.Close()
}

// Log is the kernel's log of outputs and channels. A channel that was driven
// before begins it, since the kernel passes nothing on that changes nothing.
func (r *rig) Log() []sim.Transition {
	var log []sim.Transition
	for n := range 4 {
		log = append(log, sim.Transition{Line: pwmChip + strconv.Itoa(n)})
	}
	for _, e := range r.entries() {
		words := strings.Fields(e.text)
		tr := sim.Transition{At: e.at}
		switch {
		case words[0] == "gpio" && words[2] != "in":
			tr.Line = words[1]
			tr.Level, _ = strconv.ParseFloat(words[2], 64)
		case words[0] == "pwm":
			tr.Line = pwmChip + words[1]
			tr.Level = share(words[2], words[3])
		default:
			continue
		}
		log = append(log, tr)
	}
	return log
}

func share(duty, period string) float64 {
	on, _ := strconv.ParseFloat(duty, 64)
	whole, _ := strconv.ParseFloat(period, 64)
	if whole <= 0 {
		return 0
	}
	return on / whole
}
