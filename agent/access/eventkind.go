package access

// EventConsoleCode says that somebody had the gateway print a code for the console.
const EventConsoleCode = "consoleCodeCreated"

// EventKinds are the events of this package that no request leaves.
func EventKinds() []string { return []string{EventConsoleCode} }
