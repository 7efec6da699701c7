package cloudconfig

// eventChanged is the event of a configuration that somebody has changed.
const eventChanged = "configurationChanged"

// EventKinds are the events that this package writes into the log.
func EventKinds() []string { return []string{eventChanged} }
