package book

// EventKinds are the events that this package writes into the log.
func EventKinds() []string { return []string{EventFailed} }
