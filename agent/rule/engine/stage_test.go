package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/rule"
	"roomgate/drivers"
	"roomgate/store"
)

// wanted is a rule of the cloud.
func wanted(id string) rule.Rule {
	return rule.Rule{ID: id, Name: id, Enabled: true, SpaceID: room, Trigger: rule.Trigger{Event: "occupancyChanged"}, Actions: []rule.Action{switchOn()}}
}

// stage makes these rules the cloud's.
func (r *rig) stage(mine []string, want ...rule.Rule) (ids []string) {
	r.t.Helper()
	s, ids, err := r.Stage(r.t.Context(), want, mine, r.site)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.Engine.o.Events.Commit(r.t.Context(), s); err != nil {
		r.t.Fatal(err)
	}
	return ids
}

// ids are those of all rules.
func (r *rig) ids() (ids []string) {
	for _, u := range r.List() {
		ids = append(ids, u.ID)
	}
	return ids
}

func TestStage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(3 * time.Second)
		own := r.addRule(wanted(""))
		mine := r.stage(nil, wanted("one"), wanted("two"))
		r.enters(drivers.Occupied)
		if got := r.ids(); !slices.Equal(mine, []string{"one", "two"}) || !slices.Equal(got, []string{own.ID, "one", "two"}) {
			t.Errorf("mine are %q of %q", mine, got)
		}
		two, err := r.Get("two")
		if err != nil {
			t.Fatal(err)
		}
		mine = r.stage(mine, wanted("two"))
		if got, _ := r.Get("two"); !got.UpdatedAt.Equal(two.UpdatedAt) || len(r.runs("two")) != 1 {
			t.Errorf("a rule that is as it was: %+v, before %+v", got, two)
		}
		r.wait(2 * runFlush)
		if got := r.ids(); !slices.Equal(got, []string{own.ID, "two"}) || r.keys("one") != 0 || r.keys("two") != 2 {
			t.Errorf("there are %q, and of the one that went %d rows", got, r.keys("one"))
		}
		r.stage(mine)
		if got := r.ids(); !slices.Equal(got, []string{own.ID}) {
			t.Errorf("all taken back: %q", got)
		}
	})
}

// keys are how many rows a rule and its log have.
func (r *rig) keys(id string) (n int) {
	err := r.Engine.o.DB.View(func(tx *store.Tx) error {
		for key := range ruleRows.All(tx) {
			if key == id {
				n++
			}
		}
		for key := range ruleRuns.From(tx, id+"/") {
			if key < id+"0" {
				n++
			}
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// A rule of the cloud that was suspended stays so until it is another.
func TestStageKeepsASuspension(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		t.Cleanup(r.close)
		mine := r.stage(nil, wanted("one"))
		h, err := r.find("one")
		if err != nil {
			t.Fatal(err)
		}
		h.Suspended = &rule.Suspension{Reason: "it loops"}
		r.stage(mine, wanted("one"))
		if got, _ := r.Get("one"); got.Suspended == nil {
			t.Error("the same rule runs again")
		}
		other := wanted("one")
		other.Condition = `light.value == "off"`
		r.stage(mine, other)
		if got, _ := r.Get("one"); got.Suspended != nil {
			t.Errorf("another rule is suspended: %+v", got)
		}
	})
}

// TestStageHoldsTheTurn: nobody changes rules between the check and the commit.
func TestStageHoldsTheTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		t.Cleanup(r.close)
		s, _, err := r.Stage(t.Context(), []rule.Rule{wanted("one")}, nil, r.site)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = r.Create(ctx, wanted(""))
		wantRefusal(t, "meanwhile", err, "unavailable")
		refused := errors.New("refused")
		s.Write = func(*store.Tx) error { return refused }
		if err := r.Engine.o.Events.Commit(t.Context(), s); !errors.Is(err, refused) || len(r.List()) != 0 {
			t.Errorf("%v, and there are %q", err, r.ids())
		}
		r.addRule(wanted(""))
	})
}

func TestStageRefuses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		t.Cleanup(r.close)
		own := r.addRule(wanted(""))
		mine := r.stage(nil, wanted("one"))
		spoil := func(by func(*rule.Rule)) []rule.Rule {
			u := wanted("two")
			by(&u)
			return []rule.Rule{wanted("one"), u}
		}
		without := NewSite(&Space{Room: r.bookings.Room(room), Device: func(string) (*device.Device, error) {
			return nil, problem.New(problem.NotFound, "device_type", "goes")
		}})
		many := make([]rule.Rule, maxRules)
		for i := range many {
			many[i] = wanted(fmt.Sprint(i))
		}
		for name, c := range map[string]struct {
			want    []rule.Rule
			site    *Site
			refusal string
		}{
			"twice":              {spoil(func(u *rule.Rule) { u.ID = "one" }), r.site, "invalid [1].id"},
			"an id with a space": {spoil(func(u *rule.Rule) { u.ID = "a b" }), r.site, "invalid [1].id"},
			"of the building":    {spoil(func(u *rule.Rule) { u.ID = own.ID }), r.site, "conflict [1].id"},
			"without an event":   {spoil(func(u *rule.Rule) { u.Trigger.Event = "x" }), r.site, "invalid [1].trigger.event"},
			"too many":           {many, r.site, "invalid"},
			// The site is the building as it will be.
			"a device that goes": {spoil(func(*rule.Rule) {}), without, "invalid [0].actions[0].device_type"},
			"a space that goes":  {[]rule.Rule{{ID: "a", Name: "a", SpaceID: otherRoom, Trigger: wanted("").Trigger, Actions: wanted("").Actions}}, without, "not_found [0].meeting_space_id"},
		} {
			_, _, err := r.Stage(t.Context(), c.want, mine, c.site)
			wantRefusal(t, name, err, c.refusal)
		}
		if got := r.ids(); !slices.Equal(got, []string{own.ID, "one"}) {
			t.Errorf("there are %q", got)
		}
		r.stage(mine) // the turn is free
	})
}

// TestOneOrganizationLeavesRoomForRules: rules without end for the spaces of one
// organization take no place of the building and of another.
func TestOneOrganizationLeavesRoomForRules(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		t.Cleanup(r.close)
		r.owners = map[string]string{room: "one", otherRoom: "two"}
		many := make([]rule.Rule, maxRulesOfOrg)
		for i := range many {
			many[i] = wanted(fmt.Sprint(i))
		}
		mine := r.stage(nil, many...)
		_, err := r.Create(t.Context(), wanted(""))
		wantRefusal(t, "one too many", err, "storage_full meeting_space_id")
		everywhere, theirs := wanted(""), wanted("")
		everywhere.SpaceID, theirs.SpaceID = "", otherRoom
		everywhere.Actions[0].SpaceID, theirs.Actions[0].SpaceID = room, ""
		r.addRule(everywhere)
		r.addRule(theirs)
		r.stage(mine, many[1:]...)
		r.addRule(wanted(""))
	})
}
