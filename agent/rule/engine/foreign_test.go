package engine

import (
	"strings"
	"testing"
	"time"

	"roomgate/agent/device/devicetest"
	"roomgate/agent/rule"
)

// TestARuleGivesNoCommandInASpaceOfOthers: a space goes to another organization. A rule of the one before gives no
// command there any more, also after a restart, and one of the building does.
func TestARuleGivesNoCommandInASpaceOfOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, bench := t.TempDir(), devicetest.NewBench()
		start := func(owner string) *rig {
			r := openRig(t, rigOptions{dir: dir, bench: bench})
			r.owners = map[string]string{room: org, otherRoom: owner}
			r.run()
			return r
		}
		happens := func(r *rig) {
			t.Helper()
			r.wait(20 * time.Second)
			r.happens("occupancyChanged")
			r.wait(5 * time.Second)
		}
		there := rule.Action{SpaceID: otherRoom, DeviceType: "light", Action: "on"}
		r := start(org)
		rules := map[string]rule.Rule{}
		for name, of := range map[string]string{"theirs": org, "the building's": ""} {
			rules[name] = r.addRule(rule.Rule{Name: name, SpaceID: room, OrganizationID: of, Trigger: rule.Trigger{Event: "occupancyChanged"}, Actions: []rule.Action{there}})
		}
		last := func(r *rig, name string) string {
			t.Helper()
			runs, err := r.Runs(rules[name].ID)
			if err != nil || len(runs) == 0 || len(runs[0].Actions) == 0 {
				t.Fatalf("%s: %v, %v", name, runs, err)
			}
			return runs[0].Actions[0].State + " " + runs[0].Actions[0].Reason
		}
		happens(r)
		for name := range rules {
			if got := last(r, name); got != "done " {
				t.Errorf("%s before: %s", name, got)
			}
		}
		for what, with := range map[string]func(){"moved": func() {}, "restarted": func() { r.stop(); r = start("other") }} {
			with()
			r.owners[otherRoom] = "other"
			happens(r)
			if got := last(r, "theirs"); !strings.HasPrefix(got, "rejected") || !strings.Contains(got, "who manages the space create it again") {
				t.Errorf("%s, theirs: %s", what, got)
			}
			if got := last(r, "the building's"); got != "done " {
				t.Errorf("%s, the building's: %s", what, got)
			}
			if trial, err := r.Try(rules["theirs"].ID, Probe{}); err != nil || len(trial.Actions) != 1 || trial.Actions[0].Accepted {
				t.Errorf("%s, tried: %+v, %v", what, trial, err)
			}
		}
	})
}

// TestAChainOfOthersIsToldWhatToDo: a rule whose chain begins with a rule of others, or a deleted one, opens no door, and
// the refusal says from where to send the command.
func TestAChainOfOthersIsToldWhatToDo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{dir: t.TempDir(), bench: devicetest.NewBench()})
		unlock := rule.Action{DeviceType: "lock", Action: "open"}
		if err := r.Engine.chainRefusal(unlock, room, []string{"deleted"}); err == nil || !strings.HasSuffix(err.Error(), ": send the command from a rule of this organization") {
			t.Error(err)
		}
	})
}
