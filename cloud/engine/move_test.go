package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"roomgate/cloud/backend"
)

// TestFleetMoves brings a fleet from one Mosquitto to a cluster of NATS under load, and no
// building is told: the name of the broker gets another address, the logins are the same, and
// one ledger is fed by a backend at each. Every row is stored once.
func TestFleetMoves(t *testing.T) {
	t.Parallel()
	var names []*wire // the brokers' name, as each gateway knows it
	f := newFleet(t, 1, func(t *testing.T, f *fleet) engine {
		e := asMosquitto(t, f.logins)
		address := e.brokers(0, 0)[0]
		for range each {
			names = append(names, newWire(t, address))
		}
		e.brokers = func(_, first int) []string { return []string{names[first%each].address()} }
		return e
	})
	stop := f.load()
	<-time.After(2 * time.Second)

	leave := f.ends[0] // what is still at Mosquitto is stored to the end
	moved := asNATS(t, 3, f.logins)
	f.engine = moved
	f.consume(0)
	for i, name := range names[1:] { // the first of them was the old backend's, too
		name.lead(moved.brokers(0, i)[0])
	}
	<-time.After(time.Second)
	leave()
	began := time.Now()
	names[0].lead(moved.brokers(0, 2)[0])
	for i, l := range f.logins.Gateways {
		until(t, fmt.Sprintf("gateway %d does not answer at the cluster", i+1), time.Minute, func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			r, err := f.backend(0).Command(ctx, l.User, light)
			return err == nil && r.State == backend.Done
		})
	}
	t.Logf("all gateways answer at the cluster after %v", time.Since(began).Round(time.Millisecond))
	<-time.After(3 * time.Second)
	done, unknown := stop()
	f.settle(90 * time.Second)
	t.Logf("%d commands done, %d without a receipt", done, unknown)
}
