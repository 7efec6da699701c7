package engine

// eventSuspended tells that the building has stopped a rule by itself.
const eventSuspended = "ruleSuspended"

// EventKinds are the events that this package writes into the log, beside those that rules raise under names of their own.
func EventKinds() []string { return []string{eventSuspended} }
