package engine

import (
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tests

	"roomgate/agent/goldentest"
	"roomgate/agent/rule"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// zoned has two rooms without devices, one of them in Berlin.
const zoned = `
gateway: {id: test}
clock: {trust: always}
spaces:
  - {id: ` + room + `, name: Aurora, timezone: Europe/Berlin, 24_hr_available: true}
  - {id: ` + otherRoom + `, name: Borealis, timezone: UTC, 24_hr_available: true}
`

// startAt starts a building whose clock shows a time.
func startAt(t *testing.T, o rigOptions, at time.Time) *rig {
	r := openRig(t, o)
	r.Engine.o.Clock.Move(time.Until(at))
	r.run()
	return r
}

// ticks are when a rule ran, by the clock of Berlin.
func (r *rig) ticks(id string) (out []string) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, run := range slices.Backward(r.runs(id)) {
		out = append(out, string(run.Outcome)+" "+run.At.In(zone).Format("15:04 MST"))
	}
	return out
}

func TestTimesOfARuleOverClockChanges(t *testing.T) {
	raise := []rule.Action{{Event: "a"}}
	for name, c := range map[string]struct {
		from time.Time
		time string
		want []string
	}{
		"forward": {time.Date(2026, 3, 28, 22, 59, 30, 0, time.UTC), "30 1-3 * * *", []string{"held 01:30 CET", "held 03:00 CEST", "held 03:30 CEST"}},
		"back":    {time.Date(2026, 10, 24, 21, 59, 30, 0, time.UTC), "30 1-3 * * *", []string{"held 01:30 CEST", "held 02:30 CEST", "held 03:30 CET"}},
		"weekday": {time.Date(2026, 11, 22, 22, 59, 30, 0, time.UTC), "0 0 * * 1", []string{"held 00:00 CET"}},
	} {
		bubble(t, func(t *testing.T) {
			r := startAt(t, rigOptions{yaml: zoned}, c.from)
			r.wait(time.Second)
			u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Time: c.time}, Actions: raise})
			r.wait(6 * time.Hour)
			if got := r.ticks(u.ID); !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		})
	}
}

// A rule for every space has its time in the zone of each.
func TestTimesInEveryZone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startAt(t, rigOptions{yaml: zoned}, time.Date(2026, 11, 23, 5, 59, 0, 0, time.UTC))
		r.wait(time.Second)
		u := r.addRule(rule.Rule{Trigger: rule.Trigger{Time: "07:30"}, Condition: `local.time == "07:30" and local.weekday == "monday"`,
			Actions: []rule.Action{{Event: "a"}}})
		r.wait(2 * time.Hour)
		if got := r.ticks(u.ID); !slices.Equal(got, []string{"held 07:30 CET", "held 08:30 CET"}) {
			t.Errorf("it ran %q", got)
		}
	})
}

// A time that fell into a restart is taken late, one of long ago is noted.
func TestTimesWhileTheGatewayIsOff(t *testing.T) {
	for _, c := range []struct {
		off  time.Duration
		want []string
	}{
		{3 * time.Minute, []string{"held 07:30 CET"}},
		{20 * time.Minute, []string{"skipped 07:30 CET"}},
	} {
		bubble(t, func(t *testing.T) {
			dir := t.TempDir()
			at := time.Date(2026, 11, 23, 6, 28, 30, 0, time.UTC)
			r := startAt(t, rigOptions{yaml: zoned, dir: dir}, at)
			u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Time: "07:30"}, Actions: []rule.Action{{Event: "a"}}})
			r.wait(time.Second)
			r.stop()
			time.Sleep(c.off)
			for range 3 {
				r = startAt(t, rigOptions{yaml: zoned, dir: dir}, at.Add(c.off))
				r.wait(time.Second)
				if got := r.ticks(u.ID); !slices.Equal(got, c.want) {
					t.Errorf("off for %v: %q, want %q", c.off, got, c.want)
				}
				r.stop()
			}
		})
	}
}

// A clock that is set back a little makes no minute come twice.
func TestTimesWhenTheClockIsSetBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startAt(t, rigOptions{yaml: zoned}, time.Date(2026, 11, 23, 6, 28, 30, 0, time.UTC))
		r.wait(time.Second)
		u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Time: "07:30"}, Actions: []rule.Action{{Event: "a"}}})
		r.wait(2 * time.Minute)
		r.Engine.o.Clock.Move(r.Engine.o.Clock.Ahead() - 5*time.Minute)
		r.wait(10 * time.Minute)
		r.Engine.o.Clock.Move(r.Engine.o.Clock.Ahead() - 3*time.Hour) // it was wrong before
		r.wait(4 * time.Hour)
		if got := r.ticks(u.ID); !slices.Equal(got, []string{"held 07:30 CET"}) {
			t.Errorf("it ran %q", got)
		}
	})
}

func TestNoTimeWithoutATrustedClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startAt(t, rigOptions{yaml: strings.Replace(building, "trust: always", "trust: never", 1)}, time.Date(2026, 11, 23, 6, 28, 30, 0, time.UTC))
		r.wait(3 * time.Second)
		u := r.addRule(rule.Rule{Trigger: rule.Trigger{Time: "* * * * *"}, Actions: []rule.Action{{Event: "a"}}})
		clocked := r.addRule(rule.Rule{Trigger: rule.Trigger{Event: "occupancyChanged"}, Condition: "local.hour >= 0", Actions: []rule.Action{{Event: "a"}}})
		plain := r.addRule(rule.Rule{Trigger: rule.Trigger{Event: "occupancyChanged"}, Actions: []rule.Action{switchOn()}})
		r.enters(drivers.Occupied)
		r.wait(10 * time.Minute)
		r.wantRuns(u.ID)
		r.wantRuns(clocked.ID, "not_held: it depends on the time and the clock is not trusted")
		r.wantRuns(plain.ID, "held, light on done")
	})
}

func TestRulesAroundBookings(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startAt(t, rigOptions{yaml: zoned}, on(8, 0).AddDate(0, 0, 1))
		r.wait(time.Second)
		day := func(h, m int) time.Time { return on(h, m).AddDate(0, 0, 1) }
		add := func(name, kind string, before, after time.Duration, condition string) string {
			return r.addRule(rule.Rule{Name: name, SpaceID: room, Condition: condition, Actions: []rule.Action{{Event: "a"}},
				Trigger: rule.Trigger{Booking: kind, Before: rule.Duration(before), After: rule.Duration(after)}}).ID
		}
		start := add("start", "booking.start", 0, 0, "")
		before := add("before", "booking.start", 10*time.Minute, 0, `booking.state == "booked" and next.minutes_to_start <= 10`)
		after := add("after", "booking.start", 0, 5*time.Minute, `current.state == "booked"`)
		ending := add("ending", "booking.end", 5*time.Minute, 0, "current.minutes_to_end <= 5")
		over := add("over", "booking.end", 0, time.Minute, "")
		r.book("b", day(9, 0), day(10, 0))
		r.book("gone", day(11, 0), day(12, 0))
		r.wait(time.Hour + 6*time.Minute)
		if _, err := r.bookings.CheckIn(t.Context(), "b", schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.bookings.Cancel(t.Context(), "gone", schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.wait(4 * time.Hour)
		for id, want := range map[string][]string{before: {"held 09:50 CET"}, start: {"held 10:00 CET"}, after: {"held 10:05 CET"},
			ending: {"held 10:55 CET"}, over: {"held 11:01 CET"}} {
			if got := r.ticks(id); !slices.Equal(got, want) {
				u, _ := r.Get(id)
				t.Errorf("%s ran %q, want %q: %q", u.Name, got, want, r.runsOf(id))
			}
		}
	})
}

func TestTryRule(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(3 * time.Second)
		u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Event: "occupancyChanged"},
			Condition: `event.value == "occupied" and light.value == "on"`, Actions: []rule.Action{switchOn(), {Event: "a"}}})
		trial, err := r.Try(u.ID, Probe{})
		if err != nil || len(trial.Actions) != 2 {
			t.Fatalf("%+v %v", trial, err)
		}
		goldentest.Values(t, "trial", goldentest.Pairs{"Outcome": {trial.Outcome, "not_held"},
			"Trigger": {trial.Trigger, "no such event in the log yet"}, "Actions[0].Accepted": {trial.Actions[0].Accepted, true}})
		r.enters(drivers.Occupied)
		before := len(r.told())
		trial, err = r.Try(u.ID, Probe{})
		ops := trial.Condition.Operands
		if err != nil || len(ops) != 2 {
			t.Fatalf("%+v %v", trial, err)
		}
		goldentest.Values(t, "trial", goldentest.Pairs{"Outcome": {trial.Outcome, "not_held"}, "ops[0].Held": {ops[0].Held, true},
			"ops[1].Held": {ops[1].Held, false}, "light.value": {ops[1].Values["light.value"], "off"}})
		r.bench["light-1"].Set("vanish")
		r.wait(5 * time.Second)
		made := rule.Event{Value: "vacant"}
		trial, err = r.Try(u.ID, Probe{Event: &made})
		if err != nil || trial.Condition.Operands[0].Held || !strings.Contains(trial.Actions[0].Reason, "offline") {
			t.Errorf("%+v %v", trial, err)
		}
		if _, err := r.Try(u.ID, Probe{SpaceID: otherRoom}); refusal(err) != "invalid meeting_space_id" {
			t.Errorf("another space: %v", err)
		}
		if got := len(r.told()); got != before+1 { // the light went offline
			t.Errorf("trying a rule told %d events", got-before)
		}
		r.wantRuns(u.ID, "not_held")
	})
}

// A door needs the rule's word, a trusted clock and a fresh trigger.
func TestDoorsOfRules(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		t.Cleanup(r.close)
		open := rule.Action{DeviceType: drivers.TypeLock, Action: drivers.ActOpen}
		may := rule.Rule{AllowDoor: true}
		if err := r.Engine.o.doorRefusal(may, open, 0); err != nil {
			t.Error(err)
		}
		wantRefusal(t, "without a word", r.Engine.o.doorRefusal(rule.Rule{}, open, 0), "forbidden")
		wantRefusal(t, "late", r.Engine.o.doorRefusal(may, open, time.Minute), "expired")
		if err := r.Engine.o.doorRefusal(rule.Rule{}, rule.Action{DeviceType: drivers.TypeLock, Action: drivers.ActClose}, time.Hour); err != nil {
			t.Errorf("closing: %v", err)
		}
		r.Engine.o.Clock.Jump(365 * 24 * time.Hour)
		wantRefusal(t, "without a clock", r.Engine.o.doorRefusal(may, open, 0), "forbidden")
	})
}
