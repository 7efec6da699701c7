package device

import "roomgate/drivers"

// The events of a device in the log, beside those that others ask for by name.
const (
	eventStatusChanged     = "statusChanged"
	eventOnline            = "deviceOnline"
	eventOffline           = "deviceOffline"
	eventTemperatureNormal = "temperatureNormal"
	eventCommandCompleted  = "commandCompleted"
	eventEnabled           = "deviceEnabled"
	eventDisabled          = "deviceDisabled"

	// EventChanged is the event of a device whose settings have changed.
	EventChanged = "deviceChanged"
)

// EventKinds are the events that a device writes into the log.
func EventKinds() []string {
	return []string{eventStatusChanged, EventOccupancyChanged, eventOnline, eventOffline, EventTemperatureAlert, eventTemperatureNormal,
		eventCommandCompleted, eventEnabled, eventDisabled, EventChanged,
		drivers.EventDoorForced, drivers.EventDoorHeldOpen, drivers.EventDoorShut, drivers.EventFanStalled, drivers.EventCodeEntered}
}
