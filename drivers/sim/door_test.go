package sim

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
)

type doorLines struct {
	*Door
	t              *testing.T
	relay          drivers.Output
	sense, contact drivers.Input
}

func newDoor(t *testing.T, d *Door) doorLines {
	t.Helper()
	d.Relay, d.Sense, d.Contact = "relay", "sense", "contact"
	w := world(t, d)
	l := doorLines{Door: d, t: t}
	var errs [3]error
	l.relay, errs[0] = w.Output("relay", d.ActiveLow)
	l.sense, errs[1] = w.Input("sense", drivers.PullUp)
	l.contact, errs[2] = w.Input("contact", drivers.PullUp)
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// order sets the relay line.
func (l doorLines) order(high bool) {
	l.t.Helper()
	if err := l.relay.Set(high); err != nil {
		l.t.Fatal(err)
	}
}

// want checks the two switches: high is open.
func (l doorLines) want(when string, drawn, ajar bool) {
	l.t.Helper()
	s, err1 := l.sense.Read()
	c, err2 := l.contact.Read()
	if s != drawn || c != ajar || err1 != nil || err2 != nil {
		l.t.Errorf("%s: sense %t contact %t (%v, %v), want %t and %t", when, s, c, err1, err2, drawn, ajar)
	}
}

func TestDoorBolt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t, &Door{})
		d.want("at first", false, false)
		d.order(true)
		time.Sleep(boltTravel - 1)
		d.want("on the way", false, false)
		time.Sleep(time.Nanosecond)
		d.want("drawn", true, false)
		d.order(false)
		time.Sleep(boltTravel / 2)
		d.order(true) // turned round half way
		time.Sleep(boltTravel)
		d.want("turned round", true, false)
		d.order(false)
		time.Sleep(boltTravel)
		d.want("thrown", false, false)
	})
}

func TestDoorActiveLow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t, &Door{ActiveLow: true, Travel: time.Second})
		time.Sleep(time.Minute)
		d.want("line high", false, false)
		d.order(false)
		time.Sleep(time.Second)
		d.want("line low", true, false)
	})
}

func TestDoorJam(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t, &Door{})
		d.Jam()
		d.order(true)
		time.Sleep(time.Minute)
		d.want("jammed thrown", false, false)
		d.Free()
		time.Sleep(boltTravel)
		d.want("freed", true, false)
		d.Jam()
		d.order(false)
		time.Sleep(time.Minute)
		d.want("jammed drawn", true, false)
	})
}

func TestDoorLeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t, &Door{})
		if err := d.Ajar(); err == nil {
			t.Error("a locked door was opened without force")
		}
		d.Force()
		d.want("forced", false, true)
		d.Shut()
		d.want("shut", false, false)
		d.order(true)
		time.Sleep(boltTravel)
		if err := d.Ajar(); err != nil {
			t.Error(err)
		}
		d.want("opened", true, true)
	})
}

func TestDoorEdges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t, &Door{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		go func() {
			time.Sleep(time.Second)
			d.order(true)
			time.Sleep(time.Second)
			d.order(false)
		}()
		var edges []drivers.Edge
		err := d.sense.Edges(ctx, func(e drivers.Edge) { edges = append(edges, e) })
		if err != context.DeadlineExceeded || len(edges) != 2 {
			t.Fatalf("edges %v, %v, want two", edges, err)
		}
		for i, want := range []time.Duration{time.Second + boltTravel, 2*time.Second + boltTravel} {
			if got := edges[i].At.Sub(began); got != want || edges[i].High != (i == 0) {
				t.Errorf("edge %d: %t at %s, want %s", i, edges[i].High, got, want)
			}
		}
	})
}
