package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/rule"
	"roomgate/agent/rule/doubt"
	"roomgate/drivers"
)

func lightIn(space string) device.Command {
	return device.Command{Space: space, DeviceType: drivers.TypeLight}
}

// TestTraces: the chain of rules behind a device lasts as long as its commands do, and keeps an unsigned word.
func TestTraces(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l, c := traces{left: map[doubt.Part]trace{}}, lightIn(room)
		of := func() []string { return l.of(doubt.PartOf(c), time.Now()) }
		want := func(what string, want ...string) {
			t.Helper()
			if got := of(); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		l.leave(c, doubt.Chain("a"))
		time.Sleep(time.Hour)
		want("while the command is under way", doubt.Chain("a")...)
		l.leave(c, []string{"b"})
		l.ended(c)
		time.Sleep(2 * causeTime)
		want("the second one is", doubt.Chain("b")...)
		l.forgive("a")
		want("another rule is enabled", doubt.Chain("b")...)
		l.forgive("b")
		want("that rule is enabled", doubt.Chain()...)
		l.ended(c)
		want("soon after", doubt.Chain()...)
		time.Sleep(2 * causeTime)
		want("later")
		for i := range maxTraces - 1 {
			l.leave(lightIn(fmt.Sprint(i)), []string{"c"})
		}
		l.leave(c, []string{"d"})
		want("with the last place of it", "d")
		if got := l.of(doubt.PartOf(lightIn("another")), time.Now()); !slices.Equal(got, doubt.Chain()) {
			t.Errorf("without a place: %q", got)
		}
		l.leave(c, []string{"e"})
		want("with a place that it has", "e")
	})
}

// TestWithoutRoomForMarksNoRuleIsBeyondDoubt: also one that only the time triggers.
func TestWithoutRoomForMarksNoRuleIsBeyondDoubt(t *testing.T) {
	for _, full := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			r := openRig(t, rigOptions{})
			r.Engine.o.UnsignedAllowed = func() bool { return false }
			u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Time: "* * * * *"}, Actions: []rule.Action{{Event: "a"}}})
			r.run()
			r.wait(time.Second)
			for i := 0; full && !r.Engine.o.Marks.Lost() && i < 10_000; i++ {
				r.Engine.o.Marks.Starting(device.Command{Space: fmt.Sprint(i), DeviceType: drivers.TypeLight, Via: device.ViaMQTT})
			}
			r.wait(time.Minute)
			if runs := r.runs(u.ID); len(runs) == 0 || doubt.Began(runs[0].Chain) != full {
				t.Errorf("full %v: %+v", full, runs)
			}
		})
	}
}
