package doubt

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/drivers"
)

const room = "aurora-1"

var light = Part{Space: room, Device: drivers.TypeLight}

// TestAMarkIsJudgedByTheTimeOfWhatHappened: rules are asked late, and by then somebody may have ended the mark.
func TestAMarkIsJudgedByTheTimeOfWhatHappened(t *testing.T) {
	m, began := newMarks(Options{}), time.Now()
	m.put(light, true, began)
	m.clear(light, began.Add(time.Minute))
	for after, want := range map[time.Duration]bool{time.Second: true, 59 * time.Second: true, time.Minute: false, time.Hour: false} {
		if got := m.Moved(light, began.Add(after)); got != want {
			t.Errorf("%v after it was moved: %v", after, got)
		}
	}
}

// TestAMarkOfAPart: what an unsigned command does to a part of a device lasts there, and puts the rest in doubt for a while;
// the schedule is known to move the part alone.
func TestAMarkOfAPart(t *testing.T) {
	ring, people := Part{room, drivers.TypeO3, drivers.SubRing}, Part{room, drivers.TypeO3, drivers.SubOccupancy}
	for _, whole := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := newMarks(Options{})
			m.put(ring, whole, time.Now())
			time.Sleep(time.Minute + time.Second) // as long as a command may take
			soon := m.Caused(people, time.Now())
			time.Sleep(time.Hour)
			late := m.Caused(people, time.Now())
			if soon != whole || late || !m.Caused(ring, time.Now()) || m.Moved(people, time.Now()) {
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
		m := newMarks(Options{})
		m.put(light, true, began)
		for _, d := range c.after {
			m.Changed(light, began.Add(d))
		}
		if got := m.Moved(light, began.Add(3*time.Hour)); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// TestMarksAreBounded: beyond the bound nothing is known, so everything is in doubt; marks that are over make room.
func TestMarksAreBounded(t *testing.T) {
	for _, over := range []bool{false, true} {
		m, now := newMarks(Options{}), time.Now()
		for i := range maxMarks {
			p := Part{Space: fmt.Sprint(i), Device: drivers.TypeLight}
			m.put(p, true, now)
			if over {
				m.clear(p, now)
			}
		}
		m.put(light, true, now.Add(time.Hour))
		m.clear(light, now.Add(time.Hour))
		if got := m.Moved(Part{Space: "another", Device: drivers.TypeLight}, now.Add(2*time.Hour)); got == over || m.Lost() == over || len(m.all) > maxMarks {
			t.Errorf("over %v: in doubt %v, full %v, %d marks", over, got, m.Lost(), len(m.all))
		}
	}
}
