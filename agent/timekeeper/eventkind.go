package timekeeper

// EventKinds are the events of the clock, for the log.
func EventKinds() []string { return []string{Jumped, Believed} }
