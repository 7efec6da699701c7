package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/rule"
	"roomgate/drivers"
)

func lightIn(space string) device.Command {
	return device.Command{Space: space, DeviceType: drivers.TypeLight}
}

// TestAMarkIsJudgedByTheTimeOfWhatHappened: rules are asked late, and by then somebody may have ended the mark.
func TestAMarkIsJudgedByTheTimeOfWhatHappened(t *testing.T) {
	l, began := newMarks(), time.Now()
	l.put(lightIn(room), true, began)
	l.clear(lightIn(room), began.Add(time.Minute))
	for after, want := range map[time.Duration]bool{time.Second: true, 59 * time.Second: true, time.Minute: false, time.Hour: false} {
		if got := l.moved(room, drivers.TypeLight, "", began.Add(after)); got != want {
			t.Errorf("%v after it was moved: %v", after, got)
		}
	}
}

// TestAMarkOfAPart: what an unsigned command does to a part of a device lasts there, and puts the rest in doubt for a while;
// the schedule is known to move the part alone.
func TestAMarkOfAPart(t *testing.T) {
	ring := device.Command{Space: room, DeviceType: drivers.TypeO3, SubDevice: drivers.SubRing}
	for _, whole := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			l := newMarks()
			l.put(ring, whole, time.Now())
			time.Sleep(time.Minute + time.Second) // as long as a command may take
			soon := l.caused(room, drivers.TypeO3, drivers.SubOccupancy, time.Now())
			time.Sleep(time.Hour)
			late := l.caused(room, drivers.TypeO3, drivers.SubOccupancy, time.Now())
			if soon != whole || late || !l.caused(room, drivers.TypeO3, drivers.SubRing, time.Now()) || l.moved(room, drivers.TypeO3, drivers.SubOccupancy, time.Now()) {
				t.Errorf("whole %v: soon %v, late %v", whole, soon, late)
			}
		})
	}
}

// TestOnlySomebodyMovesAMarkedDeviceThrice: a late effect, a timer of the device and what belongs together do not end a mark.
func TestOnlySomebodyMovesAMarkedDeviceThrice(t *testing.T) {
	began := time.Now()
	for what, c := range map[string]struct {
		after []time.Duration
		want  bool
	}{
		"a late effect":   {[]time.Duration{time.Hour}, true},
		"then a timer":    {[]time.Duration{time.Second, time.Hour}, true},
		"it blinks":       {[]time.Duration{1e9, 2e9, 3e9, 4e9, 5e9}, true},
		"what was before": {[]time.Duration{-3 * time.Hour, -2 * time.Hour, -time.Hour}, true},
		"somebody":        {[]time.Duration{time.Second, time.Hour, 2 * time.Hour}, false},
	} {
		l := newMarks()
		l.put(lightIn(room), true, began)
		for _, d := range c.after {
			l.changed(room, drivers.TypeLight, "", began.Add(d))
		}
		if got := l.moved(room, drivers.TypeLight, "", began.Add(3*time.Hour)); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// TestMarksAreBounded: beyond the bound nothing is known, so everything is in doubt; marks that are over make room.
func TestMarksAreBounded(t *testing.T) {
	for _, over := range []bool{false, true} {
		l, now := newMarks(), time.Now()
		for i := range maxMarks {
			c := lightIn(fmt.Sprint(i))
			l.put(c, true, now)
			if over {
				l.clear(c, now)
			}
		}
		l.put(lightIn("known before"), true, now.Add(time.Hour))
		l.clear(lightIn("known before"), now.Add(time.Hour))
		if got := l.moved("another", drivers.TypeLight, "", now.Add(2*time.Hour)); got == over || l.full() == over || len(l.all) > maxMarks {
			t.Errorf("over %v: in doubt %v, full %v, %d marks", over, got, l.full(), len(l.all))
		}
	}
}

// TestTraces: the chain of rules behind a device lasts as long as its commands do, and keeps an unsigned word.
func TestTraces(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l, c := traces{left: map[traceKey]trace{}}, lightIn(room)
		of := func() []string { return l.of(keyOf(c), time.Now()) }
		want := func(what string, want ...string) {
			t.Helper()
			if got := of(); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		l.leave(c, []string{byCloud, "a"})
		time.Sleep(time.Hour)
		want("while the command is under way", byCloud, "a")
		l.leave(c, []string{"b"})
		l.ended(c)
		time.Sleep(2 * causeTime)
		want("the second one is", byCloud, "b")
		l.forgive("a")
		want("another rule is enabled", byCloud, "b")
		l.forgive("b")
		want("that rule is enabled", byCloud)
		l.ended(c)
		want("soon after", byCloud)
		time.Sleep(2 * causeTime)
		want("later")
		for i := range maxTraces - 1 {
			l.leave(lightIn(fmt.Sprint(i)), []string{"c"})
		}
		l.leave(c, []string{"d"})
		want("with the last place of it", "d")
		if got := l.of(keyOf(lightIn("another")), time.Now()); !slices.Equal(got, []string{byCloud}) {
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
			r.Engine.o.Unsigned = func() bool { return false }
			u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Time: "* * * * *"}, Actions: []rule.Action{{Event: "a"}}})
			r.run()
			r.wait(time.Second)
			r.marks.mu.Lock()
			r.marks.lost = full
			r.marks.mu.Unlock()
			r.wait(time.Minute)
			if runs := r.runs(u.ID); len(runs) == 0 || slices.Contains(runs[0].Chain, byCloud) != full {
				t.Errorf("full %v: %+v", full, runs)
			}
		})
	}
}
