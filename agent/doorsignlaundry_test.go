package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
	rules "roomgate/agent/rule"
)

const litUnsigned = `{"meeting_space_id":"` + room + `","device_type":"light","action":"on"}`

// byTime opens the other room's door while a light is on there, hears of one that goes on or off.
func byTime(space string) rules.Rule {
	return rules.Rule{Name: "welcome", SpaceID: space, Trigger: rules.Trigger{Time: "* * * * *"}, Condition: `light.value == "on"`,
		Limits: rules.Limits{Cooldown: rules.Duration(2 * time.Minute)}, Actions: openOther}
}

func byLight(value string) rules.Rule {
	return rules.Rule{Name: "welcome", Trigger: rules.Trigger{Event: "statusChanged", DeviceType: "light"}, Condition: `event.value == "` + value + `"`,
		Limits: rules.Limits{Cooldown: rules.Duration(time.Second)}, Actions: openOther}
}

// TestNoRuleWashesADeviceClean: what a rule moves because of an unsigned word is moved by that word, whoever has made the
// rule, and so is what nobody has signed the rule for.
func TestNoRuleWashesADeviceClean(t *testing.T) {
	mirror := rules.Rule{Name: "mirror", SpaceID: room, Trigger: rules.Trigger{Event: "statusChanged", DeviceType: "light"}, Condition: `event.value == "on"`,
		Actions: []rules.Action{{SpaceID: otherRoom, DeviceType: "light", Action: "on"}}}
	for unsigned, want := range refusing {
		for what, c := range map[string]struct {
			level, data string
			all         []rules.Rule
		}{
			"a rule of the building": {"command", litUnsigned, []rules.Rule{mirror, byTime(otherRoom)}},
			"an unsigned rule": {"config", `{"revision":1,"rules":[{"id":"forged","name":"forged","meeting_space_id":"` + otherRoom + `","trigger":{"time":"* * * * *"},` +
				`"actions":[{"device_type":"light","action":"on"}]}]}`, []rules.Rule{byTime(otherRoom)}},
		} {
			t.Run(unsigned+" "+what, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					r, last := startRuled(t, unsigned, c.all...)
					r.down(c.level, "m1", c.data, time.Now())
					r.wait(2*time.Minute + 30*time.Second)
					if got := r.outcome("m1"); got != "done" || len(r.bench["light-2"].effects()) == 0 {
						t.Fatalf("%s, the light did %q", got, r.bench["light-2"].effects())
					}
					r.wantOpened(last, want)
				})
			})
		}
	}
}

// TestTheScheduleWashesNoDeviceClean: what the schedule ends may have begun by a word that is gone.
func TestTheScheduleWashesNoDeviceClean(t *testing.T) {
	follows := strings.ReplaceAll(withDoor, "    devices:\n", "    follow: {light: true, off_after: 1m}\n    devices:\n")
	for unsigned, want := range refusing {
		for _, how := range []string{"command", "schedule", "schedule, lit before"} {
			t.Run(unsigned+" "+how, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					r := startGuarded(t, follows+"\ndoors: {unsigned: "+unsigned+"}\n")
					one := byLight("off")
					one.Enabled, one.AllowDoor = true, true
					made, err := r.Rules.Create(t.Context(), one)
					if err != nil {
						t.Fatal(err)
					}
					start := time.Now().Truncate(time.Second)
					if how == "schedule, lit before" {
						r.bench["light-1"].show("", "on")
						r.wait(5 * time.Second)
					}
					if how == "command" {
						r.down("command", "m1", litUnsigned, time.Now())
					} else {
						r.down("schedule", "m1", strings.Replace(forged("snapshot", 1, slot("evil", start, start.Add(time.Hour), `"state":"checked_in"`)), otherRoom, room, 1), time.Now())
					}
					r.wait(2 * time.Minute)
					r.down("schedule", "m2", `{"meeting_space_id":"`+room+`","kind":"delta","revision":2,"bookings":[],"removed":["evil"]}`, time.Now())
					r.wait(time.Hour)
					if got := strings.Join(r.bench["light-1"].effects(), " "); !strings.HasSuffix(got, "off") {
						t.Fatalf("the light did %q", got)
					}
					r.wantOpened(made.ID, want)
				})
			})
		}
	}
}

// TestAnUnsignedCommandHasAllTheTimeItTakes: a mark ends with what the device has done, however late that is, and nobody
// wipes it off by enabling a rule, nor by a command that the device does not carry out.
func TestAnUnsignedCommandHasAllTheTimeItTakes(t *testing.T) {
	slow := strings.Replace(withDoor, "timeout: 1s, options: {name: light-1}", "timeout: 50s, options: {name: light-1}", 1)
	for unsigned, want := range refusing {
		for what, happens := range map[string]func(r *rig, other string){
			"a long timeout": func(r *rig, _ string) {
				r.bench["light-1"].set("hang")
				r.wait(100 * time.Millisecond)
				r.down("command", "l1", litUnsigned, time.Now())
				r.wait(45 * time.Second)
				r.bench["light-1"].set("")
				close(r.bench["light-1"].release)
			},
			"a slow device": func(r *rig, _ string) {
				r.bench["light-1"].set("ignore")
				r.down("command", "l1", litUnsigned, time.Now())
				r.wait(5 * time.Minute)
				r.bench["light-1"].show("", "on")
			},
			"a rule that is enabled": func(r *rig, other string) {
				r.bench["light-1"].set("ignore")
				r.down("command", "l1", litUnsigned, time.Now())
				r.wait(3 * time.Second)
				if _, err := r.Rules.Change(r.t.Context(), other, func(*rules.Rule) (bool, error) { return true, nil }); err != nil {
					r.t.Fatal(err)
				}
				r.bench["light-1"].show("", "on")
			},
			"a command that failed": func(r *rig, _ string) {
				r.bench["light-1"].set("ignore")
				r.down("command", "l1", litUnsigned, time.Now())
				r.wait(3 * time.Second)
				if got, err := r.switchLight(room, "off"); err != nil || got.State != device.Failed {
					r.t.Fatalf("%+v, %v", got, err)
				}
				r.wait(time.Minute)
				r.bench["light-1"].show("", "on")
			},
		} {
			t.Run(unsigned+" "+what, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					r := startGuarded(t, slow+"\ndoors: {unsigned: "+unsigned+"}\n")
					var ids []string
					for _, one := range []rules.Rule{{Name: "other", Trigger: rules.Trigger{Event: rules.OwnEvent + "never"}, Actions: []rules.Action{{Event: "x"}}}, byLight("on")} {
						one.Enabled, one.AllowDoor = true, true
						made, err := r.Rules.Create(t.Context(), one)
						if err != nil {
							t.Fatal(err)
						}
						ids = append(ids, made.ID)
					}
					happens(r, ids[0])
					r.wait(10 * time.Second)
					r.wantOpened(ids[1], want)
				})
			})
		}
	}
}

// switchLight is a command of somebody in the building.
func (r *rig) switchLight(space, action string) (device.Receipt, error) {
	return r.Commands.Do(r.t.Context(), device.Command{Space: space, DeviceType: "light", Action: action, Via: device.ViaHTTP, By: "app"})
}

// TestAMarkEndsByTheBuilding: whoever in the building moves what an unsigned command has moved, and a signed one, vouches
// for it; the timer of a device that goes off again does not.
func TestAMarkEndsByTheBuilding(t *testing.T) {
	off := rules.Rule{Name: "off", SpaceID: room, Trigger: rules.Trigger{Time: "0 * * * *"}, Actions: []rules.Action{{DeviceType: "light", Action: "off"}}}
	for what, c := range map[string]struct {
		happens func(r *rig)
		rule    rules.Rule
		want    int
	}{
		"over HTTP": {func(r *rig) { _, _ = r.switchLight(room, "off") }, byLight("off"), 1},
		"signed": {func(r *rig) {
			r.bring(signed{level: "command", id: "s1", counter: 1, data: strings.Replace(litUnsigned, `"on"`, `"off"`, 1)})
		}, byLight("off"), 1},
		"signed, and held back": {func(r *rig) {
			r.bring(signed{level: "command", id: "s1", counter: 1, at: time.Now().Add(-30 * time.Minute), data: strings.Replace(litUnsigned, `"on"`, `"off","ttl_s":3600`, 1)})
			if got := r.outcome("s1"); got != "done" {
				r.t.Error(got)
			}
		}, byLight("off"), 0},
		"by its own rule": {func(r *rig) { r.wait(time.Hour) }, byLight("off"), 1},
		"at the device": {func(r *rig) {
			r.bench["light-1"].show("", "off")
			r.wait(time.Minute)
			r.bench["light-1"].show("", "on")
		}, byLight("on"), 1},
		"by its timer": {func(r *rig) { r.bench["light-1"].show("", "off") }, byLight("off"), 0},
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				all := []rules.Rule{c.rule}
				if what == "by its own rule" {
					all = []rules.Rule{off, c.rule}
				}
				r, last := startRuled(t, "refuse", all...)
				r.down("command", "l1", litUnsigned, time.Now())
				r.wait(2 * time.Minute)
				if r.opened() != 0 {
					t.Fatal("opened by the unsigned command")
				}
				c.happens(r)
				r.wait(10 * time.Second)
				if got := r.opened(); got != c.want {
					runs, _ := r.Rules.Runs(last)
					t.Errorf("opened %d times, want %d: %s", got, c.want, fmt.Sprint(runs))
				}
			})
		})
	}
}

// TestNoRuleOpensADoorByWhatTheCloudSwitchedOff: a condition that finds something missing holds by nobody's word.
func TestNoRuleOpensADoorByWhatTheCloudSwitchedOff(t *testing.T) {
	for unsigned, want := range refusing {
		for _, condition := range []string{`light.value != "on"`, `not (light.value == "on")`, `light["value"] == "off"`, `not light.online or light?.value in ["off", ""]`} {
			t.Run(unsigned+" "+condition, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					r, last := startRuled(t, unsigned, rules.Rule{Name: "welcome", SpaceID: room, Trigger: rules.Trigger{Time: "3 * * * *"}, Condition: condition, Actions: openOther})
					r.bench["light-1"].show("", "on")
					r.wait(time.Minute)
					r.down("command", "l1", strings.Replace(litUnsigned, `"on"`, `"off"`, 1), time.Now())
					r.wait(3 * time.Minute)
					r.wantOpened(last, want)
				})
			})
		}
	}
}
