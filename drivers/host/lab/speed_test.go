//go:build lab

package lab

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/drivers"
)

// Emulated time is coarse: the figures are told, and only what no machine may
// exceed fails.
const tooSlow = 500 * time.Millisecond

func TestSpeed(t *testing.T) {
	t.Run("lock/gpio/command to line/none", commandToLine)
	t.Run("occupancy/gpio/edge to event/none", edgeToEvent)
	t.Run("ring-light/spi/frame rate/none", frameRate)
}

// tell notes the middle and the worst of what was measured.
func tell(t *testing.T, all []time.Duration) {
	t.Helper()
	slices.Sort(all)
	half, worst := all[len(all)/2], all[len(all)-1]
	t.Logf("note: p50 %v, worst of %d %v", half.Round(10*time.Microsecond), len(all), worst.Round(10*time.Microsecond))
	if half > tooSlow {
		t.Errorf("half of them took longer than %v", half)
	}
}

func commandToLine(t *testing.T) {
	r := newRoom(t, newDoor())
	d := r.open(lockOptions())
	var all []time.Duration
	for range 10 {
		began := time.Now()
		if err := order(d, "open"); err != nil {
			t.Fatal(err)
		}
		log := r.Log()
		all = append(all, log[len(log)-1].At.Sub(began))
		if err := order(d, "close"); err != nil {
			t.Fatal(err)
		}
	}
	tell(t, all)
}

func edgeToEvent(t *testing.T) {
	r := newRoom(t)
	in, err := r.Input("pir", drivers.PullDown)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := make(chan time.Time, 1)
	go func() { _ = in.Edges(ctx, func(drivers.Edge) { seen <- time.Now() }) }()
	time.Sleep(100 * time.Millisecond)
	var all []time.Duration
	for i := range 40 {
		began := time.Now()
		_ = r.tell("wire pir " + bit(i%2 == 0))
		select {
		case at := <-seen:
			all = append(all, at.Sub(began))
		case <-time.After(2 * time.Second):
			t.Fatalf("edge %d was not reported", i)
		}
	}
	tell(t, all)
}

func frameRate(t *testing.T) {
	r := newRoom(t, newHub()...)
	d := r.open(hubOptions())
	if err := order(d, "ring-light/pattern=\"rotate\""); err != nil {
		t.Fatal(err)
	}
	const whole = 3 * time.Second
	before := len(r.frames())
	time.Sleep(whole)
	rate := float64(len(r.frames())-before) / whole.Seconds()
	t.Logf("note: %.1f frames a second", rate)
	if rate < 5 {
		t.Errorf("only %g frames a second", rate)
	}
}

// frames are the transfers to the ring.
func (r *rig) frames() []entry {
	return slices.DeleteFunc(r.entries(), func(e entry) bool { return !strings.HasPrefix(e.text, "spi ") })
}
