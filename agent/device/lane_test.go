package device

import (
	"fmt"
	"testing"

	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
)

// TestLaneIsShared: one who gives commands without a pause waits for himself, many of the
// network keep out neither the cloud nor the keypad, and each in turn is next.
func TestLaneIsShared(t *testing.T) {
	l := newLane()
	enter := func(via, by string, want bool) {
		t.Helper()
		c := Command{ID: by, Via: via, By: by}
		err := l.enter(c.giver())
		if (err == nil) != want || err != nil && problem.As(err).Code != problem.Unavailable {
			t.Errorf("a command of %s by %s: %v, want a place: %v", via, by, err, want)
		}
		if err == nil {
			l.put(&Pending{command: c})
		}
	}
	for i := range 3 * laneOfOne {
		enter(ViaHTTP, "eve", i < laneOfOne)
	}
	enter(ViaHTTP, "ada", true)
	for i := range laneOfAll {
		enter(ViaHTTP, fmt.Sprint(i), i < laneOfAll-laneOfOne-1)
	}
	enter(ViaMQTT, "backend", true)
	enter(ViaKeypad, "visitor", true)
	var order []string
	for p := l.take(); p != nil; p = l.take() {
		order = append(order, p.command.By)
	}
	if len(order) != laneOfAll+2 {
		t.Fatalf("in the order %q", order)
	}
	goldentest.Values(t, "in the order", goldentest.Pairs{"order[0]": {order[0], "eve"}, "order[1]": {order[1], "ada"},
		"order[laneOfAll-laneOfOne+1]": {order[laneOfAll-laneOfOne+1], "backend"},
		"order[laneOfAll-laneOfOne+2]": {order[laneOfAll-laneOfOne+2], "visitor"}})
	if len(l.places)+len(l.waiting)+len(l.order) != 0 {
		t.Errorf("something is left: %+v", l)
	}
	enter(ViaHTTP, "eve", true)
	l.take()
	_ = l.enter(giver{ViaHTTP, "eve"})
	l.leave(giver{ViaHTTP, "eve"}) // it could not be stored
	if len(l.places) != 0 {
		t.Errorf("a place is left: %+v", l)
	}
}

// TestBrokerIsOneGiver: another name for each command gets a broker no more turns, and
// what is signed waits for its own key only, up to the limit of the cloud.
func TestBrokerIsOneGiver(t *testing.T) {
	l := newLane()
	enter := func(c Command) error {
		c.Via = ViaMQTT
		return l.enter(c.giver())
	}
	taken := 0
	for i := range 3 * laneOfOne {
		if enter(Command{By: fmt.Sprint("invented", i)}) == nil {
			taken++
		}
	}
	if taken != laneOfOne {
		t.Errorf("%d commands of one broker wait, want %d", taken, laneOfOne)
	}
	for i := range laneOfAll {
		if enter(Command{By: "backend", Count: &Count{Key: fmt.Sprint("key", i)}}) == nil {
			taken++
		}
	}
	if taken != laneOfAll {
		t.Errorf("%d commands of the cloud wait, want %d", taken, laneOfAll)
	}
	if err := l.enter(giver{ViaHTTP, "ada"}); err != nil {
		t.Errorf("a command of the network, while the cloud has used up its places: %v", err)
	}
}
