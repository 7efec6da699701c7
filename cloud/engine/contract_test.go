package engine

import (
	"testing"
	"time"
)

// brokers are what a fleet may live on.
var brokers = []struct {
	name  string
	cells int
	open  func(t *testing.T, f *fleet) engine
}{
	{"mochi", 1, func(t *testing.T, f *fleet) engine { return asMochi(t, f.passwords) }},
	{"mosquitto", 1, func(t *testing.T, f *fleet) engine { return asMosquitto(t, f.logins) }},
	{"one NATS node", 1, func(t *testing.T, f *fleet) engine { return asNATS(t, 1, f.logins) }},
	{"three NATS nodes with two cells", 2, func(t *testing.T, f *fleet) engine { return asNATS(t, 3, f.logins) }},
	{"one NATS node from which two pull", 1, func(t *testing.T, f *fleet) engine { return asPulled(t, 1, f.logins) }},
	{"three NATS nodes from which two pull", 1, func(t *testing.T, f *fleet) engine { return asPulled(t, 3, f.logins) }},
}

// scenarios are what happens while gateways tell and backends command.
var scenarios = []struct {
	name string
	play func(f *fleet)
}{
	{"messages", func(f *fleet) { away(f); kept(f); large(f); stranger(f) }},
	{"a node is killed", killed},
	{"a node is alone", alone},
	{"all nodes are rolled", rolled},
	{"a right is taken away", mute},
	{"a backend is cut off", cutOff},
	{"a store is full", full},
}

// TestContract holds each broker to what gateways and backends need: under load, and
// whatever happens to it, nothing that the backend has acknowledged is lost or stored twice.
func TestContract(t *testing.T) {
	for _, b := range brokers {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, b.cells, b.open)
			for _, s := range scenarios {
				if s.name == "a node is alone" && f.isolate == nil || s.name == "all nodes are rolled" && f.stop == nil || s.name == "a backend is cut off" && f.wire == nil {
					continue // it has one node, or it ends in one way
				}
				ok := t.Run(s.name, func(t *testing.T) {
					f.t = t
					f.under(s.play)
				})
				f.t = t
				if !ok {
					return // what comes next would fail for this
				}
			}
		})
	}
}

// under plays a scenario under load, and wants all rows stored once afterwards.
func (f *fleet) under(play func(*fleet)) {
	began, stop := time.Now(), f.load()
	<-time.After(time.Second)
	play(f)
	for n := range f.ends {
		if err := f.backend(n).Settle(f.t.Context()); err != nil {
			f.t.Error(err)
		}
	}
	<-time.After(3 * time.Second) // a row behind a gap shows the gap, else it shows after a minute
	done, unknown := stop()
	f.settle(90 * time.Second)
	f.t.Logf("%d commands done, %d without a receipt; settled after %v", done, unknown, time.Since(began).Round(time.Millisecond))
}
