package doctor

import (
	"context"

	"roomgate/agent/roombroker"
)

// roomUsers says what the lists of the room broker's users lack.
func roomUsers(_ context.Context, x *examination) (found []Finding) {
	const name = "room broker users"
	if x.Config == nil || x.Config.Broker.Listen == "" || len(x.Config.Broker.Users) == 0 {
		return nil
	}
	for _, a := range roombroker.Of(x.Config).Advice() {
		found = append(found, warn(name, a.Seen, a.Fix))
	}
	if found == nil {
		found = one(good(name, "%s, each with its own topics", count(len(x.Config.Broker.Users), "user")))
	}
	return found
}
