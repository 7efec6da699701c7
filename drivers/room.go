package drivers

// RoomBroker is the address at which Buses.Dial reaches the building's own
// room broker, without a socket. It is not a name on the network: a board on
// which nobody listens there answers ErrNoLine.
const RoomBroker = "room:1883"

// Guarded is the optional side of Options whose device takes orders as
// messages on the room broker that nobody else may give, such as "unlock".
type Guarded interface {
	// Guarded are MQTT topic filters to which only the gateway may publish.
	Guarded() []string
}
