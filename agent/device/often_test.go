package device

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/drivers"
)

// TestFlappingFact: a sensor that changes its mind a hundred times a second is shown as it is, and stored now and then; what it
// said last is stored in the end.
func TestFlappingFact(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{yaml: strings.Replace(building, "events: 500", "events: 5000", 1)})
		r.run()
		r.wait(time.Second)
		hub := r.byID("hub-1")
		before, told := r.db.Stats().BytesWritten, len(r.told())
		say := func(value string) {
			r.bench["hub-1"].Show(drivers.SubOccupancy, value)
			hub.kick.Wake()
			r.wait(10 * time.Millisecond)
			if got := r.status(room, drivers.TypeO3, drivers.SubOccupancy); got.Value != value {
				t.Fatalf("it says %s, and shown is %s", value, got.Value)
			}
		}
		const minutes = 10
		for n := range minutes * 60 * 100 {
			say([]string{drivers.Occupied, drivers.Vacant}[n%2])
		}
		rows := len(r.told()) - told
		if most := eventlog.StoredAtOnce + minutes*6 + 2; rows < eventlog.StoredAtOnce || rows > most {
			t.Errorf("%d changes are in the log, want at most %d", rows, most)
		}
		if perMinute := (r.db.Stats().BytesWritten - before) / minutes; perMinute > 400<<10 {
			t.Errorf("a minute writes %d bytes", perMinute)
		}
		say(drivers.Occupied)
		r.wait(eventlog.StoredEvery)
		if got := hub.view.reportedOf(drivers.SubOccupancy); got != drivers.Occupied {
			t.Errorf("stored is %s", got)
		}
		last := r.told()[len(r.told())-1]
		if want := "occupancyChanged occupancy"; last != want {
			t.Errorf("told last is %q, want %q", last, want)
		}
		for n := range 3 {
			say([]string{drivers.Vacant, drivers.Occupied}[n%2])
		}
		again := r.again() // which ends the devices
		if got := again.byID("hub-1").view.reportedOf(drivers.SubOccupancy); got != drivers.Vacant {
			t.Errorf("after a stop at once stored is %s", got)
		}
	})
}

func (v *view) reportedOf(sub string) string {
	for _, p := range v.parts {
		if p.sub == sub {
			return p.reported.Value
		}
	}
	return ""
}

// TestFlappingAlarm: an alarm that comes a hundred times a second is stored now and then, and the last one of each kind in the end.
func TestFlappingAlarm(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{yaml: strings.Replace(building, "events: 500", "events: 5000", 1)})
		r.run()
		r.wait(time.Second)
		hub, told := r.byID("hub-1"), len(r.told())
		for n := range 6000 {
			hub.report(drivers.Event{Type: []string{drivers.EventDoorForced, drivers.EventDoorShut}[n%2], Time: time.Now(), Details: map[string]any{"n": n}})
			r.wait(10 * time.Millisecond)
		}
		r.wait(eventlog.StoredEvery + 5*time.Second)
		all := r.told()[told:]
		if most := 2 * (eventlog.StoredAtOnce + 8); len(all) < 2*eventlog.StoredAtOnce || len(all) > most {
			t.Errorf("%d alarms are in the log, want at most %d", len(all), most)
		}
		if last, want := fmt.Sprint(all[len(all)-2:]), "[doorForced o3-sensor doorShut o3-sensor]"; last != want {
			t.Errorf("told last are %s, want %s", last, want)
		}
	})
}

// TestHeldAlarmIsToldSoon: the last alarm of a kind that came too often is told within ten seconds, whatever the poll of the
// device and whether it answers.
func TestHeldAlarmIsToldSoon(t *testing.T) {
	for _, fault := range []string{"", "vanish"} {
		bubble(t, func(t *testing.T) {
			r := openRig(t, rigOptions{yaml: strings.Replace(seldom, "events: 500", "events: 5000", 1)})
			r.run()
			r.wait(time.Second)
			door := r.byID("door-1")
			say := func(kind string, n int) {
				door.report(drivers.Event{Type: kind, Time: time.Now(), Details: map[string]any{"n": n}})
			}
			for n := range 140 {
				say(drivers.EventDoorForced, n)
				say(drivers.EventDoorShut, n)
				r.wait(10 * time.Millisecond)
			}
			r.wait(time.Minute)
			r.bench["door-1"].Set(fault)
			for n := range 3 {
				for range 10 {
					say(drivers.EventDoorForced, 200+n)
				}
				if !door.alarms.Waiting() {
					t.Fatal("no alarm waits")
				}
				told := len(r.told())
				r.wait(eventlog.StoredEvery + time.Second)
				if fresh := r.told()[told:]; door.alarms.Waiting() || !strings.Contains(fmt.Sprint(fresh), drivers.EventDoorForced) {
					t.Errorf("%q: told is %q", fault, fresh)
				}
				r.wait(10 * time.Millisecond)
			}
		})
	}
}

// TestAlarmAmongFlappingValues: a temperature that is too high for a moment is told, though its values change too often to be
// stored. An alarm that itself flaps is stored now and then.
func TestAlarmAmongFlappingValues(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{yaml: strings.Replace(building, "events: 500", "events: 5000", 1)})
		r.run()
		r.wait(time.Second)
		say := func(value string) {
			r.bench["hub-1"].Show(drivers.SubTemperature, value)
			r.byID("hub-1").kick.Wake()
			r.wait(10 * time.Millisecond)
		}
		count := func(kind string) (n int) {
			for _, told := range r.told() {
				if strings.HasPrefix(told, kind) {
					n++
				}
			}
			return n
		}
		for n := range 300 {
			say([]string{"20.0", "22.0"}[n%2])
		}
		for range 2 {
			say("80.0")
			r.wait(2500 * time.Millisecond)
			say("21.0")
		}
		if alerts, normals := count(EventTemperatureAlert), count(EventTemperatureNormal); alerts != 2 || normals != 2 {
			t.Errorf("told are %d alerts and %d normals, want 2 of each", alerts, normals)
		}
		for range 3000 {
			say("80.0")
			say("21.0")
		}
		if alerts := count(EventTemperatureAlert); alerts > eventlog.StoredAtOnce/2+10 {
			t.Errorf("told are %d alerts in a minute", alerts)
		}
	})
}
