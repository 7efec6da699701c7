package engine

import (
	"slices"
	"strings"
	"testing"

	"roomgate/agent/booking"
	"roomgate/agent/goldentest"
	"roomgate/agent/message"
	"roomgate/agent/push/pushtest"
	"roomgate/agent/rule"
	"roomgate/agent/schedule"
)

// startTold starts a building with a push gateway and a rule for each event.
func startTold(t *testing.T, dir string, actions ...rule.Action) (*rig, rule.Rule) {
	t.Helper()
	r := startRig(t, rigOptions{dir: dir})
	for _, u := range r.List() {
		return r, u
	}
	return r, r.addRule(rule.Rule{Name: "Somebody books", Trigger: rule.Trigger{Booking: schedule.Created}, Actions: actions})
}

func TestRuleTellsPeople(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, u := startTold(t, "",
			rule.Action{To: rule.To{UserID: "ada"}, Message: "look", Priority: "urgent"},
			rule.Action{To: rule.To{Topic: "desk"}, Title: "Desk", Message: "look"},
			rule.Action{To: rule.To{Organizer: true}, Message: "welcome"},
			rule.Action{To: rule.To{Email: "stranger@example.com"}, Message: "look"})
		b := meeting("b1", on(9, 0), on(10, 0))
		b.Organizer = booking.Person{Name: "Mel", Email: "mel@example.com"}
		if _, _, err := r.bookings.Create(t.Context(), b, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		r.wait(runFlush)
		want := []string{"ada-phone Somebody books", "desk Desk", "rooms-mel Somebody books"}
		if got := r.pushed(); !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		r.wantRuns(u.ID, `held, message "look" to ada done, message "look" to a phone done, message "welcome" to the organizer done, message "look" to stranger@example.com failed`)
		runs, err := r.Runs(u.ID)
		if err != nil {
			t.Fatal(err)
		}
		m, err := r.Engine.o.Messages.Get(runs[0].Actions[2].MessageID)
		if err != nil {
			t.Fatalf("%+v, %v", m, err)
		}
		goldentest.Values(t, "the message", goldentest.Pairs{"Source": {m.Source, message.FromRule}, "SpaceID": {m.SpaceID, room},
			"To.BookingID": {m.To.BookingID, "b1"}, "OrganizationID": {m.OrganizationID, org}})
		if last := runs[0].Actions[3]; !strings.Contains(last.Reason, "nothing leads to a mobile device") {
			t.Errorf("a stranger, without a cloud: %+v", last)
		}
	})
}

// TestRuleTellsOnce: what a rule says is stored with how far it was asked.
func TestRuleTellsOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		tell := rule.Action{To: rule.To{UserID: "ada"}, Message: "look"}
		r, u := startTold(t, dir, tell, tell)
		r.push.Script(func(string) *pushtest.Fault { return &pushtest.Fault{Status: 503} })
		r.book("b1", on(9, 0), on(10, 0))
		r.wait(runFlush)
		r.stop()
		r, _ = startTold(t, dir)
		r.wait(runFlush)
		if got := r.pushed(); len(got) != 2 {
			t.Errorf("told %q, want each once", got)
		}
		r.wantRuns(u.ID, `held, message "look" to ada done, message "look" to ada done`)
	})
}

func TestRuleTellsNobodyInVain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, u := startTold(t, "", rule.Action{To: rule.To{Organizer: true}, Message: "welcome"}, rule.Action{To: rule.To{UserID: "off"}, Message: "a"})
		r.book("b1", on(9, 0), on(10, 0))
		r.wait(runFlush)
		r.wantRuns(u.ID, `held, message "welcome" to the organizer rejected, message "a" to off rejected`)
		trial, err := r.Try(u.ID, Probe{})
		if err != nil || trial.Actions[0].Accepted || trial.Actions[0].Reason != "to.organizer is of no use: the booking b1 has nobody with an address" {
			t.Errorf("%+v, %v", trial.Actions, err)
		}
		for field, act := range map[string]rule.Action{
			"actions[0].to":           {To: rule.To{UserID: "ada", Topic: "desk"}, Message: "a"},
			"actions[0].to.email":     {To: rule.To{Email: "ada"}, Message: "a"},
			"actions[0].to.topic":     {To: rule.To{Topic: "a b"}, Message: "a"},
			"actions[0].priority":     {To: rule.To{Topic: "desk"}, Message: "a", Priority: "shrill"},
			"actions[0].title":        {Title: "a", Message: "a"},
			"actions[0].message":      {To: rule.To{Topic: "desk"}, Event: "a"},
			"actions[0].to.organizer": {To: rule.To{Organizer: true}, Message: "a"},
		} {
			_, err := r.Create(t.Context(), rule.Rule{Name: "x", Trigger: rule.Trigger{Time: "07:30"}, Actions: []rule.Action{act}})
			wantRefusal(t, field, err, "invalid "+field)
		}
	})
}
