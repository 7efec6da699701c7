package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/rule"
	"roomgate/drivers"
	"roomgate/store"
)

// addRule makes a rule that is enabled.
func (r *rig) addRule(u rule.Rule) rule.Rule {
	r.t.Helper()
	u.Enabled = true
	if u.Name == "" {
		u.Name = "test"
	}
	made, err := r.Create(r.t.Context(), u)
	if err != nil {
		r.t.Fatal(err)
	}
	return made
}

// runsOf are the runs of a rule, oldest first: "held light on done".
func (r *rig) runsOf(id string) (out []string) {
	r.t.Helper()
	runs, err := r.Runs(id)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, run := range slices.Backward(runs) {
		text := string(run.Outcome)
		if run.Count > 1 {
			text += fmt.Sprint(" x", run.Count)
		}
		for _, a := range run.Actions {
			text += ", " + a.Action + " " + a.State
		}
		if run.Reason != "" {
			text += ": " + run.Reason
		}
		out = append(out, text)
	}
	return out
}

func (r *rig) wantRuns(id string, want ...string) {
	r.t.Helper()
	if got := r.runsOf(id); !slices.Equal(got, want) {
		r.t.Errorf("the rule ran\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// enters lets people come into the room, or leave it.
func (r *rig) enters(value string) {
	r.bench["hub-1"].Show(drivers.SubOccupancy, value)
	r.wait(4 * time.Second)
}

func switchOn() rule.Action {
	return rule.Action{DeviceType: drivers.TypeLight, Action: drivers.ActOn}
}

func TestRuleObeysAnEvent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(3 * time.Second)
		u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Event: "occupancyChanged"},
			Condition: `event.value == "occupied" and light.value == "off"`, Actions: []rule.Action{switchOn(), {Event: "welcome"}}})
		r.enters(drivers.Occupied)
		r.enters(drivers.Vacant)
		r.enters(drivers.Occupied)
		r.wantRuns(u.ID, "held, light on done, event rule.welcome done", "not_held x2")
		if got := r.bench["light-1"].Effects(); !slices.Equal(got, []string{"on"}) {
			t.Errorf("the light was told to %q", got)
		}
		if told := r.told(); !slices.Contains(told, "rule.welcome") || !slices.Contains(told, "commandCompleted light") {
			t.Errorf("the log has %q", told)
		}
		light, err := r.site.byID[room].Device(drivers.TypeLight)
		if err != nil {
			t.Fatal(err)
		}
		c, receipt := light.Last().Command, light.Last().Receipt
		if c.Via != device.ViaRule || c.By != u.ID || receipt.State != device.Done {
			t.Errorf("the order was %+v, %+v", c, receipt)
		}
	})
}

func TestRuleForEverySpace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(3 * time.Second)
		u := r.addRule(rule.Rule{Trigger: rule.Trigger{Event: "statusChanged", DeviceType: drivers.TypeLight},
			Condition: `space.name == "Borealis"`, Actions: []rule.Action{{SpaceID: room, DeviceType: drivers.TypeLight, Action: drivers.ActOn}}})
		r.bench["light-2"].Show("", drivers.On)
		r.wait(4 * time.Second)
		r.wantRuns(u.ID, "held, light on done", "not_held")
	})
}

func TestRuleKeepsItsLimits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(3 * time.Second)
		trigger := rule.Trigger{Event: "occupancyChanged"}
		few := r.addRule(rule.Rule{Trigger: trigger, Actions: []rule.Action{{Event: "a"}}, Limits: rule.Limits{PerMinute: 2}})
		rests := r.addRule(rule.Rule{Trigger: trigger, Actions: []rule.Action{{Event: "b"}}, Limits: rule.Limits{Cooldown: rule.Duration(10 * time.Minute)}})
		for i := range 4 {
			r.enters([]string{drivers.Occupied, drivers.Vacant}[i%2])
		}
		r.wantRuns(few.ID, "held, event rule.a done", "held, event rule.a done", "limited x2: it has run 2 times within a minute")
		r.wantRuns(rests.ID, "held, event rule.b done", "limited x3: it rests for 10m after a run")
		r.wait(2 * time.Minute)
		dir := r.o.dir
		r.stop()
		r = startRig(t, rigOptions{dir: dir})
		r.wait(3 * time.Second)
		r.enters(drivers.Occupied)
		if got := r.runsOf(rests.ID); len(got) != 2 || !strings.HasPrefix(got[1], "limited x") {
			t.Errorf("after a restart it ran %q", got)
		}
		r.wait(10 * time.Minute)
		r.enters(drivers.Vacant)
		if got := r.runsOf(rests.ID); got[len(got)-1] != "held, event rule.b done" {
			t.Errorf("after its rest it ran %q", got)
		}
	})
}

// Two rules that raise each other's event are stopped, and that is told.
func TestLoopOfEventsIsStopped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(3 * time.Second)
		a := r.addRule(rule.Rule{Name: "a", Trigger: rule.Trigger{Event: "rule.pong"}, Actions: []rule.Action{{Event: "ping"}}})
		b := r.addRule(rule.Rule{Name: "b", Trigger: rule.Trigger{Event: "rule.ping"}, Actions: []rule.Action{{Event: "pong"}}})
		r.addRule(rule.Rule{Trigger: rule.Trigger{Event: "occupancyChanged"}, Actions: []rule.Action{{Event: "ping"}}})
		r.enters(drivers.Occupied)
		r.wantRuns(b.ID, "held, event rule.pong done", "held, event rule.pong done", "held, event rule.pong done",
			"suspended: it triggers itself again and again: "+b.ID+", "+a.ID)
		if got, _ := r.Get(b.ID); got.Suspended == nil || got.Active() {
			t.Errorf("it is %+v", got)
		}
		if told := r.told(); !slices.Contains(told, eventSuspended) {
			t.Errorf("the log has %q", told)
		}
		dir := r.o.dir
		r.stop()
		r = startRig(t, rigOptions{dir: dir})
		if got, _ := r.Get(b.ID); got.Suspended == nil {
			t.Error("a restart has forgotten it")
		}
		got, err := r.Change(t.Context(), b.ID, func(u *rule.Rule) (bool, error) { u.Enabled = true; return true, nil })
		if err != nil || !got.Active() {
			t.Errorf("enabled again it is %+v, %v", got, err)
		}
	})
}

// Four rules that turn two lights on and off for ever are stopped, though no
// event says which order it follows from.
func TestLoopOfDevicesIsStopped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(3 * time.Second)
		add := func(from, value, to, action string) {
			r.addRule(rule.Rule{SpaceID: from, Trigger: rule.Trigger{Event: "statusChanged", DeviceType: drivers.TypeLight},
				Condition: `event.value == "` + value + `"`, Limits: rule.Limits{PerMinute: 60},
				Actions: []rule.Action{{SpaceID: to, DeviceType: drivers.TypeLight, Action: action}}})
		}
		add(room, "on", otherRoom, "on")
		add(otherRoom, "on", room, "off")
		add(room, "off", otherRoom, "off")
		add(otherRoom, "off", room, "on")
		r.bench["light-1"].Show("", drivers.On)
		r.wait(5 * time.Minute)
		orders := len(r.bench["light-1"].Effects()) + len(r.bench["light-2"].Effects())
		if orders == 0 || orders > 16 {
			t.Errorf("%d orders in a loop", orders)
		}
		suspended := 0
		for _, u := range r.List() {
			if u.Suspended != nil {
				suspended++
			}
		}
		if suspended != 1 {
			t.Errorf("%d rules are suspended", suspended)
		}
	})
}

// A person who is quicker than the rules is no loop.
func TestPeopleAreNoLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(3 * time.Second)
		u := r.addRule(rule.Rule{Trigger: rule.Trigger{Event: "occupancyChanged"}, Limits: rule.Limits{PerMinute: 60},
			Actions: []rule.Action{{DeviceType: drivers.TypeO3, SubDevice: drivers.SubRing, Action: drivers.ActOn}}})
		for i := range 12 {
			r.enters([]string{drivers.Occupied, drivers.Vacant}[i%2])
		}
		if got, _ := r.Get(u.ID); got.Suspended != nil {
			t.Errorf("it is suspended: %+v", got.Suspended)
		}
	})
}

func TestRulesThatTheBuildingRefuses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(3 * time.Second)
		for want, spoil := range map[string]func(*rule.Rule){
			"not_found meeting_space_id":          func(u *rule.Rule) { u.SpaceID = "x" },
			"invalid trigger.device_type":         func(u *rule.Rule) { u.Trigger.DeviceType = "lamp" },
			"invalid trigger.sub_device":          func(u *rule.Rule) { u.Trigger.SubDevice = "lamp" },
			"invalid condition":                   func(u *rule.Rule) { u.Condition = "x" },
			"invalid actions[0].device_type":      func(u *rule.Rule) { u.Actions[0].DeviceType = "fan" },
			"invalid actions[0].action":           func(u *rule.Rule) { u.Actions[0].Action = "dance" },
			"invalid actions[0].value":            func(u *rule.Rule) { u.Actions[0].Action, u.Actions[0].Value = "intensity", json.RawMessage("200") },
			"invalid actions[0].meeting_space_id": func(u *rule.Rule) { u.Actions[0].SpaceID = "x" },
			"invalid actions[0].device_type ":     func(u *rule.Rule) { u.Actions[0] = rule.Action{Message: "hello"} },
			"invalid allow_door": func(u *rule.Rule) {
				u.Actions[0] = rule.Action{DeviceType: drivers.TypeLock, Action: drivers.ActOpen}
			},
		} {
			u := rule.Rule{Name: "a", SpaceID: room, Trigger: rule.Trigger{Event: "statusChanged"}, Actions: []rule.Action{switchOn()}}
			spoil(&u)
			if _, err := r.Create(t.Context(), u); refusal(err) != strings.TrimSpace(want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		if len(r.List()) != 0 {
			t.Error("something was stored")
		}
		_, err := r.Get("x")
		wantRefusal(t, "an unknown rule", err, "not_found id")
		wantRefusal(t, "to delete an unknown rule", r.Delete(t.Context(), "x"), "not_found id")
	})
}

func TestDeletedRulesLeaveNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(3 * time.Second)
		u := r.addRule(rule.Rule{SpaceID: room, Trigger: rule.Trigger{Event: "occupancyChanged"}, Actions: []rule.Action{switchOn()}})
		r.enters(drivers.Occupied)
		if err := r.Delete(t.Context(), u.ID); err != nil {
			t.Fatal(err)
		}
		r.enters(drivers.Vacant)
		r.wait(2 * runFlush)
		_ = r.Engine.o.DB.View(func(tx *store.Tx) error {
			for key := range ruleRuns.All(tx) {
				t.Errorf("%s is left", key)
			}
			for key := range openRuns.All(tx) {
				t.Errorf("%s is left open", key)
			}
			return nil
		})
	})
}

// BenchmarkRulesPerEvent is one event that many rules hear and none acts upon.
func BenchmarkRulesPerEvent(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint("rules=", n), func(b *testing.B) {
			r := openRig(b, rigOptions{dir: b.TempDir()})
			b.Cleanup(r.close)
			byID := map[string]*compiled{}
			for i := range n {
				h, err := compile(rule.Rule{ID: fmt.Sprint(i), Enabled: true, Trigger: rule.Trigger{Event: "occupancyChanged"},
					Condition: `event.value == "vacant" and light.value == "on" and local.hour >= 18`}, &history{log: rule.NewLog(nil)})
				if err != nil {
					b.Fatal(err)
				}
				byID[h.ID] = h
			}
			r.show(byID)
			d := r.hub()
			item := store.Item[eventlog.Row]{Seq: 1, Value: d.Event("occupancyChanged", drivers.SubOccupancy, time.Now(), map[string]any{"value": "occupied"})}
			b.ReportAllocs()
			for b.Loop() {
				v := newVerdicts()
				if err := r.askRow(v, item); err != nil {
					b.Fatal(err)
				}
				if err := r.decide(b.Context(), v, position{seq: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
