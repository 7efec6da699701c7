package drivers

// RoomBroker is the address at which Buses.Dial reaches the building's own
// room broker, without a socket. It is not a name on the network: a board on
// which nobody listens there answers ErrNoLine.
const RoomBroker = "room:1883"

// AtRoomBroker is the optional side of Options whose device may be at the room
// broker.
type AtRoomBroker interface {
	// Accounts are what speaks for the device at the room broker, nothing if it
	// is not there.
	Accounts() []Account
}

// Account is what a device, or a bridge that speaks for it, needs to be at the
// room broker as a user of its own.
type Account struct {
	// Names are what such a user may be called so that it is known as this
	// device's, in any case of letters.
	Names []string
	// Says are MQTT topic filters of what the device is known by: anybody who may
	// publish there speaks for it.
	Says []string
	// Publish and Subscribe are MQTT topic filters of all that the user needs.
	Publish, Subscribe []string
	// Opens says whether a message on a topic may open a door, by whatever name
	// the door is called there: only the gateway may send those. Nil: it is not
	// a door's.
	Opens func(topic string) bool
}
