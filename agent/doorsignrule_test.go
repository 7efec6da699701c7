package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
	rules "roomgate/agent/rule"
	"roomgate/agent/schedule"
	"roomgate/agent/unlock"
)

// refusing are the buildings where a word of the cloud opens a door only if it is
// signed, and one where it need not be.
var refusing = map[string]int{"refuse": 0, "allow": 1}

// forged is a schedule message that nobody has signed.
func forged(kind string, revision int, bookings string) string {
	return fmt.Sprintf(`{"meeting_space_id":%q,"kind":%q,"revision":%d,"bookings":[%s],"removed":[]}`, otherRoom, kind, revision, bookings)
}

// startRuled starts a building that holds a key, with rules of its owner.
func startRuled(t *testing.T, unsigned string, all ...rules.Rule) (r *rig, last string) {
	t.Helper()
	r = startGuarded(t, withDoor+"\ndoors: {unsigned: "+unsigned+"}\n")
	for _, one := range all {
		one.Enabled, one.AllowDoor = true, true
		made, err := r.Rules.Create(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		last = made.ID
	}
	return r, last
}

// wantOpened wants the door opened so often, and the reason in the rule's run if it was not.
func (r *rig) wantOpened(rule string, want int) {
	r.t.Helper()
	if got := r.opened(); got != want {
		r.t.Errorf("the door was opened %d times, want %d", got, want)
	}
	runs, err := r.Rules.Runs(rule)
	if err != nil || len(runs) == 0 {
		r.t.Fatalf("the rule did not run: %v", err)
	}
	if said := fmt.Sprint(runs); want == 0 && !strings.Contains(said, "doors.unsigned") {
		r.t.Errorf("the runs do not say why: %s", said)
	}
}

var openOther = []rules.Action{{SpaceID: otherRoom, DeviceType: "lock", Action: "open"}}

func TestNoRuleOpensADoorByAnUnsignedBooking(t *testing.T) {
	for unsigned, want := range refusing {
		for what, all := range map[string][]rules.Rule{
			"at the start":    {{Name: "welcome", SpaceID: otherRoom, Trigger: rules.Trigger{Event: schedule.Started}, Actions: openOther}},
			"after the start": {{Name: "welcome", SpaceID: otherRoom, Trigger: rules.Trigger{Booking: rules.BookingStart, After: rules.Duration(time.Minute)}, Actions: openOther}},
			"over a rule between": {{Name: "first", SpaceID: otherRoom, Trigger: rules.Trigger{Event: schedule.Started}, Actions: []rules.Action{{Event: "guest"}}},
				{Name: "second", SpaceID: otherRoom, Trigger: rules.Trigger{Event: rules.OwnEvent + "guest"}, Actions: openOther}},
		} {
			t.Run(unsigned+" "+what, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					r, last := startRuled(t, unsigned, all...)
					start := time.Now().Add(time.Minute).Truncate(time.Minute)
					r.down("schedule", "f1", forged("snapshot", 1, slot("evil", start, start.Add(time.Hour))), time.Now())
					r.wait(5 * time.Minute)
					r.wantOpened(last, want)
				})
			})
		}
	}
}

func TestARuleOpensADoorByABookingOfTheBuilding(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, last := startRuled(t, "refuse", rules.Rule{Name: "welcome", SpaceID: otherRoom, Trigger: rules.Trigger{Event: schedule.Started}, Actions: openOther})
		start := time.Now().Add(time.Hour).Truncate(time.Hour)
		if _, _, err := r.Bookings.Create(t.Context(), booking.Booking{ID: "ours", SpaceID: otherRoom, Start: start, End: start.Add(time.Hour)}, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.wait(65 * time.Minute)
		r.wantOpened(last, 1)
	})
}

func TestNoRuleOpensADoorByAnUnsignedCommand(t *testing.T) {
	for unsigned, want := range refusing {
		t.Run(unsigned, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, last := startRuled(t, unsigned, rules.Rule{Name: "welcome", SpaceID: room,
					Trigger: rules.Trigger{Event: "statusChanged", DeviceType: "light"}, Actions: openOther})
				r.down("command", "l1", `{"meeting_space_id":"`+room+`","device_type":"light","action":"on"}`, time.Now())
				r.wait(10 * time.Second)
				r.wantOpened(last, want)
			})
		})
	}
}

// TestAnUnsignedWordOnlyShortensACode: a code for a booking keeps the time that the building
// has given it.
func TestAnUnsignedWordOnlyShortensACode(t *testing.T) {
	for unsigned, want := range map[string]string{"refuse": "its booking was moved without a signature", "allow": ""} {
		t.Run(unsigned, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, _ := startRuled(t, unsigned)
				start := time.Now().Add(26 * time.Hour).Truncate(time.Hour)
				later := booking.Booking{ID: "later", SpaceID: otherRoom, Start: start, End: start.Add(time.Hour)}
				if _, _, err := r.Bookings.Create(t.Context(), later, schedule.Caller{}); err != nil {
					t.Fatal(err)
				}
				c, _, _, err := r.Unlock.Set(t.Context(), otherRoom, unlock.Request{Name: "guest", Code: "483920", BookingID: "later"}, "test")
				if err != nil {
					t.Fatal(err)
				}
				soon := time.Now().Add(time.Minute).Truncate(time.Minute)
				r.down("schedule", "f1", forged("snapshot", 1, slot("later", soon, soon.Add(time.Hour), `"revision":9`)), time.Now())
				r.wait(2 * time.Minute)
				if got := r.Unlock.WhyNot(c); got != want {
					t.Errorf("moved without a signature: %q, want %q", got, want)
				}
				b, err := r.Bookings.Extend(t.Context(), "later", time.Time{}, time.Hour, schedule.Caller{})
				if err != nil {
					t.Fatal(err)
				}
				if got := r.Unlock.WhyNot(c); got != "" {
					t.Errorf("the building says that it is from %v to %v: %q, want that it holds", b.Start, b.End, got)
				}
			})
		})
	}
}
