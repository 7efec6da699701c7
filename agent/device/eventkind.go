package device

import "roomgate/drivers"

// The events of a device in the log.
const (
	EventStatusChanged     = "statusChanged"
	EventOccupancyChanged  = "occupancyChanged" // people have entered a room or left it
	EventOnline            = "deviceOnline"
	EventOffline           = "deviceOffline"
	EventTemperatureAlert  = "temperatureAlert" // a temperature has left its range
	EventTemperatureNormal = "temperatureNormal"
	EventCommandCompleted  = "commandCompleted"
	EventChanged           = "deviceChanged" // the settings of a device have changed
	eventEnabled           = "deviceEnabled"
	eventDisabled          = "deviceDisabled"
)

// EventKinds are the events that a device writes into the log.
func EventKinds() []string {
	return []string{EventStatusChanged, EventOccupancyChanged, EventOnline, EventOffline, EventTemperatureAlert, EventTemperatureNormal,
		EventCommandCompleted, eventEnabled, eventDisabled, EventChanged,
		drivers.EventDoorForced, drivers.EventDoorHeldOpen, drivers.EventDoorShut, drivers.EventFanStalled, drivers.EventCodeEntered}
}
