package device

import (
	"errors"
	"time"

	"roomgate/agent/clock"
	"roomgate/store"
)

// What is stored of devices and their commands.
var (
	// readings is the last known state by device id, for a restart.
	readings = store.NewTable[[]storedReading]("readings")
	// settings holds what was set of a device at run time, by its id.
	settings = store.NewTable[Settings]("device-settings")
	// commands remembers each command and its receipt by id: see Commands.
	commands = store.NewTable[Stored]("commands")
	// commandAges orders the ids of commands by origin, oldest first, to forget
	// them. Those of the cloud follow what an earlier version has stored of all.
	commandAges = [...]store.Queue[string]{
		fromUs:     store.NewQueue[string]("own-command-ages", 2*maxCommands, store.Refuse),
		fromCaller: store.NewQueue[string]("caller-command-ages", 2*maxCommands, store.Refuse),
		fromCloud:  store.NewQueue[string]("command-ages", 2*maxCommands, store.Refuse),
	}
	// openCommands holds the ids of accepted commands of an earlier version, or for
	// one, without a final receipt.
	openCommands = store.NewTable[bool]("open-commands")
)

// Buckets names what devices have in the store.
func Buckets() []string {
	return []string{readings.Bucket(), SettingsBucket(), commands.Bucket(), openCommands.Bucket(), underWay.Bucket(), recents.Bucket(),
		commandAges[fromUs].Bucket(), commandAges[fromCaller].Bucket(), commandAges[fromCloud].Bucket()}
}

// SettingsBucket names the table of what was set of devices.
func SettingsBucket() string { return settings.Bucket() }

// Delete deletes what is stored of a device, but for its commands.
func Delete(tx *store.Tx, id string) error {
	return errors.Join(readings.Delete(tx, id), settings.Delete(tx, id))
}

type storedReading struct {
	Sub        string         `json:"sub,omitempty"`
	Value      string         `json:"value"`
	Status     string         `json:"status"`
	ObservedAt time.Time      `json:"observed_at"`
	Source     string         `json:"source,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
}

// Stored is a command and its receipt as they are remembered.
type Stored struct {
	Command Command `json:"command,omitzero"`
	Receipt Receipt `json:"receipt,omitzero"`
	// Lived is how many seconds the gateway had lived through by then; 0: an
	// earlier version has stored it.
	Lived clock.Lived `json:"lived_s,omitempty"`
}
