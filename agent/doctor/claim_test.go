package doctor

import (
	"testing"

	"roomgate/agent/claim"
)

// A gateway that waits for its claim is told apart from one that needs none.
func TestClaimed(t *testing.T) {
	x := &examination{}
	if found := claimed(t.Context(), x); found != nil {
		t.Errorf("without a gateway: %+v", found)
	}
	for _, state := range []string{claim.Off, ""} { // an older gateway does not tell
		x.Building = &Building{Claim: Claim{State: state}}
		if found := claimed(t.Context(), x); found != nil {
			t.Errorf("%q: %+v", state, found)
		}
	}
	x.Building.Claim = Claim{State: claim.Waiting}
	claimed(t.Context(), x)[0].is(t, "nobody's", Warn, "roomgate claim shows")
	x.Building.Claim = Claim{State: claim.Done, Organization: "Acme"}
	claimed(t.Context(), x)[0].is(t, "somebody's", OK, "belongs to Acme")
}
