package agent

import (
	"testing"
	"time"

	rules "roomgate/agent/rule"
)

// TestNoRuleOpensADoorByAnUnsignedZone: a rule of a space without a lock opens the door of another one when the clock on
// its wall says so.
func TestNoRuleOpensADoorByAnUnsignedZone(t *testing.T) {
	for unsigned, want := range map[string]struct {
		outcome string
		opened  int
	}{"refuse": {"rejected forbidden spaces", 0}, "allow": {"done", 1}} {
		t.Run(unsigned, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, _ := startRuled(t, unsigned, rules.Rule{Name: "at nine", SpaceID: room, Trigger: rules.Trigger{Time: "0 9 * * *"}, Actions: openOther})
				r.wait(30 * time.Minute)
				r.down("config", "c1", `{"revision":1,"spaces":[{"id":"`+room+`","timezone":"Asia/Shanghai"}]}`, time.Now())
				r.wait(2 * time.Hour)
				if got := r.outcome("c1"); got != want.outcome || r.opened() != want.opened {
					t.Errorf("%s, opened %d times", got, r.opened())
				}
			})
		})
	}
}
