package sim

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
)

// Each low is told once, by its beginning.
func TestPulses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pad := &Keypad{D0: "d0", D1: "d1"}
		line, err := world(t, pad).Pulses("d1", drivers.PullUp)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var told []drivers.Edge
		done := make(chan error)
		go func() { done <- line.Edges(ctx, func(e drivers.Edge) { told = append(told, e) }) }()
		synctest.Wait()
		began := time.Now()
		if err := pad.Send(0b1011, 4, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		cancel()
		<-done
		for i, after := range []time.Duration{0, 2 * bitTime, 3 * bitTime} {
			if len(told) != 3 || told[i].High || told[i].At.Sub(began) != after {
				t.Fatalf("told %v", told)
			}
		}
	})
}
