package api

// timedGateway is how the gateway is, of V2.0.
type timedGateway struct {
	gatewayAnswer
	OutboxHours *float64   `json:"outbox_hours"` // null: more than a year
	Clock       timedClock `json:"clock"`
}

// timedClock is what the gateway knows of the time.
type timedClock struct {
	Now     moment `json:"now"`
	Trusted bool   `json:"trusted"`
	Reason  string `json:"reason,omitempty"`
	JumpS   int64  `json:"jump_s,omitempty"`
}

func newTimedGateway(g gatewayAnswer) timedGateway {
	t := timedGateway{gatewayAnswer: g, Clock: timedClock{moment(g.Clock.Now), g.Clock.Trusted, g.Clock.Reason, g.Clock.JumpS}}
	if g.OutboxHours >= 0 {
		t.OutboxHours = &g.OutboxHours
	}
	return t
}
