package claim

// The events of the claim.
const (
	eventClaimed  = "gatewayClaimed"
	eventReleased = "gatewayReleased"
)

// EventKinds are the events that this package writes into the log.
func EventKinds() []string { return []string{eventClaimed, eventReleased} }
