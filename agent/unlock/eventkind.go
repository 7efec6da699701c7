package unlock

// The events of codes and keypads.
const (
	eventAccepted      = "codeAccepted"
	eventRefused       = "codeRefused"
	eventLockout       = "codeLockout"
	eventLockoutLifted = "codeLockoutLifted"
	eventCreated       = "unlockCodeCreated"
	eventUpdated       = "unlockCodeUpdated"
	eventDeleted       = "unlockCodeDeleted"
)

// EventKinds are the events that this package writes into the log.
func EventKinds() []string {
	return []string{eventAccepted, eventRefused, eventLockout, eventLockoutLifted, eventCreated, eventUpdated, eventDeleted}
}
