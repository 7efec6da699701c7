package agent

import (
	"encoding/json"
	"testing"
	"time"
)

// A state goes up at once when a lock or a booking has changed, once in 30 s when a lamp
// has, and whole with each connection and when somebody asks.
func TestStatesArePaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, _ := openHeaven(t)
		r := startRig(t, rigOptions{yaml: withDoor, dial: h.dial})
		r.wait(time.Minute)
		of := func(space string) (n int, last spaceState) {
			for _, m := range h.taken("state") {
				if m.rest == space && !m.retained {
					n++
					if err := json.Unmarshal(m.Data, &last); err != nil {
						t.Fatal(err)
					}
				}
			}
			return n, last
		}
		for _, c := range []struct {
			what, space string
			change      func()
			most        int // states in 20 s
			all         int // and in a minute
		}{
			{"a lamp ten times", room, func() {
				for i := range 10 {
					r.down("command", "l"+string(rune('0'+i)), commandTo("light", []string{"on", "off"}[i%2]), time.Now())
					r.wait(time.Second)
				}
			}, 1, 2},
			{"a lock", otherRoom, func() { r.down("command", "door", commandTo("lock", "open"), time.Now()); r.wait(2 * time.Second) }, 2, 4},
			{"a booking", room, func() { r.book("b", on(14, 0), on(15, 0)); r.wait(2 * time.Second) }, 2, 3},
			{"who asks", room, func() {
				if err := r.Bookings.SendState(room); err != nil {
					t.Fatal(err)
				}
				r.wait(2 * time.Second)
			}, 1, 2},
			{"a connection", room, func() { h.cut(false); r.wait(5 * time.Second) }, 1, 2},
		} {
			r.wait(time.Minute)
			before, _ := of(c.space)
			c.change()
			got, _ := of(c.space)
			if got == before && c.what != "a lamp ten times" {
				t.Errorf("%s: no state went up at once", c.what)
			}
			if got > before+c.most {
				t.Errorf("%s: %d states at once, want at most %d", c.what, got-before, c.most)
			}
			r.wait(50 * time.Second)
			if got, _ = of(c.space); got == before || got > before+c.all {
				t.Errorf("%s: %d states within a minute, want 1 to %d", c.what, got-before, c.all)
			}
		}
		r.down("command", "last", commandTo("light", "on"), time.Now())
		r.wait(40 * time.Second)
		if _, last := of(room); last.Devices[0].Value != "on" {
			t.Errorf("the last state is %+v", last.Devices[0].Record)
		}
	})
}
