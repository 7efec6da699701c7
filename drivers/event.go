package drivers

import "time"

// Event is something that a device reports by itself.
type Event struct {
	Type    string // one of the Event constants
	Sub     string // the sub-device, or empty
	Time    time.Time
	Details map[string]any
	// Code is what was entered at a keypad, or what identifies a card, of an
	// EventCodeEntered: for anybody who judges it and for nobody else. It is in no
	// log, message or answer; Details never hold it.
	Code Secret `json:"-" yaml:"-"`
}

// The events that drivers raise. The building raises further ones from what
// it polls.
const (
	// EventChanged asks for a poll now; it is not logged.
	EventChanged = ""
	// EventDoorForced: the leaf opened while the lock was closed.
	EventDoorForced = "doorForced"
	// EventDoorHeldOpen: the leaf stayed open longer than allowed.
	EventDoorHeldOpen = "doorHeldOpen"
	// EventDoorShut: the leaf is shut again after one of the two above.
	EventDoorShut = "doorShut"
	// EventFanStalled: the fan is driven and does not turn.
	EventFanStalled = "fanStalled"
	// EventCodeEntered: a code was entered at the door's keypad, or a card
	// held to its reader. Details has "bits", how long the message was, and
	// for a card "card" and "facility", for a code "digits", how many there
	// were. Code has the digits, or "facility:card" in decimal.
	EventCodeEntered = "codeEntered"
)
