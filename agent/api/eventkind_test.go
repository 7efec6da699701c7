package api

import (
	"slices"
	"strings"
	"testing"

	"roomgate/agent/eventlog"
	"roomgate/agent/rule"
)

// TestAnUnknownEventIsRefused: V2.0 says which there are, of the building and of a
// space, and V1.0 answers that there are none, as ever.
func TestAnUnknownEventIsRefused(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, path := range []string{"/v2.0/events", "/v2.0/meeting-spaces/" + aurora + "/events"} {
			got := b.ask("GET", path+"?event_type=nonsense")
			checkProblem(t, path, got, 422, "invalid", "event_type")
			for _, want := range []string{"temperatureAlert", "booking.created", "userDisabled", "storageDegraded", "storageRecovered"} {
				if !strings.Contains(got.body, want) {
					t.Errorf("%s does not name %s: %s", path, want, got.body)
				}
			}
			got = b.ask("GET", path+"?event_type=temperatureAlarm")
			if p := checkProblem(t, path, got, 422, "invalid", "event_type"); p.Detail != `event_type is not known: did you mean "temperatureAlert"?` {
				t.Errorf("%s says %s of a misspelt event", path, p.Detail)
			}
			checkProblem(t, path+", a stream", b.ask("GET", path+"?event_type=temperatureAlarm", "Accept: text/event-stream"), 422, "invalid", "event_type")
			for _, known := range []string{"temperatureAlert", "storageDegraded", rule.OwnEvent + "tooWarm"} {
				if got := b.ask("GET", path+"?event_type="+known); got.StatusCode != 200 {
					t.Errorf("%s of %s: %d %s", path, known, got.StatusCode, got.body)
				}
			}
		}
		for _, path := range []string{"/devices/events", "/devices/" + aurora + "/events"} {
			if got := b.ask("GET", path+"?event_type=temperatureAlarm"); got.StatusCode != 200 || !strings.Contains(got.body, `"events":[]`) {
				t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
			}
		}
	})
}

// wantKnownKinds wants that all that a building has told of is known: it runs at the
// end of every test with one.
func (b *building) wantKnownKinds() {
	known := eventKinds()
	for after := uint64(0); ; {
		found, next, err := b.agent.Events.Find(eventlog.Filter{After: after, Limit: eventlog.PageSize})
		if err != nil || next == after {
			return // it is closed, or has been read
		}
		for _, e := range found {
			if !slices.Contains(known, e.Type) && !strings.HasPrefix(e.Type, rule.OwnEvent) && !slices.Contains(toldOfBefore, e.Type) {
				b.t.Errorf("the event %s is not in eventKinds", e.Type)
			}
		}
		after = next
	}
}

// toldOfBefore are events that only tests, or earlier versions, tell of.
var toldOfBefore = []string{}
