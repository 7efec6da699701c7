package health

// The events of the gateway itself: another gateway has its id, its disk does not take what is to be stored and takes it
// again. The latter are written when they can be.
const (
	eventContested = "gatewayContested"
	eventDegraded  = "storageDegraded"
	eventRecovered = "storageRecovered"
)

// EventKinds are the events that this package writes into the log.
func EventKinds() []string { return []string{eventContested, eventDegraded, eventRecovered} }
