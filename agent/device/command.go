package device

import (
	"encoding/json"
	"time"

	"roomgate/agent/problem"
)

// Command is a command as it arrives, by whatever door.
type Command struct {
	// ID is the command's identity: the same id is carried out once. Empty:
	// the building makes one.
	ID string `json:"id"`
	// Space, DeviceType, SubDevice, Action and Value say what to do; Value is
	// JSON or nil.
	Space      string          `json:"meeting_space_id"`
	DeviceType string          `json:"device_type"`
	SubDevice  string          `json:"sub_device,omitempty"`
	Action     string          `json:"action"`
	Value      json.RawMessage `json:"value,omitempty"`
	// ExpiresAt is when the sender no longer wants it; zero: never said.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// TTL is how long after SentAt, or if that is zero after its arrival, it
	// may still be carried out; 0: never said.
	TTL time.Duration `json:"ttl,omitempty"`
	// SentAt is the sender's time of the message; zero: never said.
	SentAt time.Time `json:"sent_at,omitzero"`
	// Via is the door: "http", "mqtt", "cli", "room", "keypad", "schedule" or "rule". A
	// command from mqtt gets its receipts there.
	Via string `json:"via"`
	// By names the credential, never the secret.
	By string `json:"by,omitempty"`
	// Count is used with the id; nil: the command is not signed.
	Count *Count `json:"-"`
	// Doubted says of a command of a rule that an unsigned word of the cloud has led to it, and of one of the cloud, signed or
	// not, that a broker may have held it back.
	Doubted bool `json:"-"`
}

// Value is a text, a number or a map of such, as the value of a command.
func Value(v any) json.RawMessage {
	data, _ := json.Marshal(v) // such things always can be
	return data
}

// The doors of a command.
const (
	ViaHTTP   = "http"
	ViaMQTT   = "mqtt"
	ViaCLI    = "cli"
	ViaRoom   = "room" // the room broker
	ViaKeypad = "keypad"
	// ViaSchedule is the space itself, which follows its schedule.
	ViaSchedule = "schedule"
	ViaRule     = "rule"
)

// State is where a command stands.
type State string

// The life of a command: Accepted, then one of the others. Rejected and
// Expired commands were never carried out.
const (
	Accepted      State = "accepted"
	Done          State = "done"
	Failed        State = "failed"
	Rejected      State = "rejected"
	ExpiredUnused State = "expired"
)

// Final says that nothing more will come.
func (s State) Final() bool { return s != Accepted }

// Receipt answers a command. The same id gets the same receipt for as long as
// it is remembered.
type Receipt struct {
	CommandID  string       `json:"command_id"`
	State      State        `json:"state"`
	Code       problem.Code `json:"code,omitempty"` // for failed, rejected, expired
	Reason     string       `json:"reason,omitempty"`
	Evidence   *Evidence    `json:"evidence,omitempty"`
	ReceivedAt time.Time    `json:"received_at"`
	FinishedAt time.Time    `json:"finished_at,omitzero"`
	// Durable is false where the disk does not take the receipt: a restart forgets it. Nil: it is stored.
	Durable *bool `json:"durable,omitempty"`
}

// Evidence is the read-back that followed a command.
type Evidence struct {
	Record
	ObservedAt time.Time      `json:"observed_at"`
	Source     string         `json:"source"`
	Details    map[string]any `json:"details,omitempty"`
}
