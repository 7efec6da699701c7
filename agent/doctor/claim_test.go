package doctor

import (
	"testing"

	"roomgate/agent"
)

// A gateway that waits for its claim is told apart from one that needs none.
func TestClaimed(t *testing.T) {
	x := &examination{}
	if found := claimed(t.Context(), x); found != nil {
		t.Errorf("without a gateway: %+v", found)
	}
	for _, state := range []string{agent.ClaimOff, ""} { // an older gateway does not tell
		x.Building = &Building{Claim: Claim{State: state}}
		if found := claimed(t.Context(), x); found != nil {
			t.Errorf("%q: %+v", state, found)
		}
	}
	x.Building.Claim = Claim{State: agent.ClaimWaiting}
	claimed(t.Context(), x)[0].is(t, "nobody's", Warn, "roomgate claim shows")
	x.Building.Claim = Claim{State: agent.ClaimDone, Organization: "Acme"}
	claimed(t.Context(), x)[0].is(t, "somebody's", OK, "belongs to Acme")
}
