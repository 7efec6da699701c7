package update

// EventKinds are the events of updates, for the log.
func EventKinds() []string {
	return []string{Installed, Begun, Done, Failed, NotTaken, Damaged, Back}
}
