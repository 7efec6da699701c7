package webhook

// The events that say how a webhook stands.
const (
	eventFailing   = "webhookFailing"
	eventRecovered = "webhookRecovered"
	eventDisabled  = "webhookDisabled"
)

// EventKinds are the events that this package writes into the log. Those that webhooks are notified of are Events.
func EventKinds() []string { return []string{eventFailing, eventRecovered, eventDisabled} }
