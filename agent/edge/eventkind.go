package edge

// The events of edge devices.
const (
	eventRegistered = "edgeRegistered"
	eventDeleted    = "edgeDeleted"
)

// EventKinds are the events that this package writes into the log.
func EventKinds() []string {
	return []string{eventRegistered, eventDeleted, EventReported, EventPhoneCode, EventPhoneLetIn}
}
