package agent

import (
	"slices"

	"roomgate/agent/access"
	"roomgate/agent/claim"
	"roomgate/agent/cloudconfig"
	"roomgate/agent/device"
	"roomgate/agent/edge"
	"roomgate/agent/enrol"
	"roomgate/agent/health"
	"roomgate/agent/message/book"
	"roomgate/agent/rule/engine"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/timekeeper"
	"roomgate/agent/unlock"
	"roomgate/agent/update"
	"roomgate/agent/webhook"
)

// eventRepaired is the event of a database that was repaired.
const eventRepaired = "storeRepaired"

// EventKinds are the events that the building writes into its log, sorted, beside those that rules raise, which begin
// with rule.OwnEvent. Who serves the building adds its own, of who has changed what.
func EventKinds() []string {
	kinds := slices.Concat(
		[]string{eventRepaired},
		access.EventKinds(),
		claim.EventKinds(),
		enrol.EventKinds(),
		timekeeper.EventKinds(),
		cloudconfig.EventKinds(),
		device.EventKinds(),
		edge.EventKinds(),
		health.EventKinds(),
		book.EventKinds(),
		engine.EventKinds(),
		schedule.EventKinds(),
		site.EventKinds(),
		unlock.EventKinds(),
		update.EventKinds(),
		webhook.EventKinds(),
	)
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
