package doctor

import (
	"context"

	"roomgate/agent/claim"
)

// Claim is how the running gateway stands with its cloud, without the code, for
// what is found is handed on.
type Claim struct {
	State        string `json:"state"` // as of claim.Status
	Organization string `json:"organization"`
}

// claimed says who owns the gateway, if it is one that is claimed. Whether
// its cloud is reached is another finding.
func claimed(_ context.Context, x *examination) []Finding {
	const name = "claim"
	if x.Building == nil {
		return nil
	}
	switch c := x.Building.Claim; c.State {
	case claim.Done:
		return one(good(name, "this gateway belongs to %s", c.Organization))
	case claim.Waiting:
		return one(warn(name, "this gateway belongs to nobody yet",
			"scan the code on the attached screen, or what roomgate claim shows, and accept the gateway at the cloud; one that needs no claim has its user there as cloud.username"))
	}
	return nil
}
