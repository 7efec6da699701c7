package site

import "roomgate/agent/device"

// The events of meeting spaces and devices that come, change and go.
const (
	eventDeviceCreated = "deviceCreated"
	eventDeviceRemoved = "deviceRemoved"
	eventSpaceCreated  = "spaceCreated"
	eventSpaceChanged  = "spaceChanged"
	eventSpaceRemoved  = "spaceRemoved"
)

// EventKinds are the events that this package writes into the log.
func EventKinds() []string {
	return []string{eventDeviceCreated, device.EventChanged, eventDeviceRemoved, eventSpaceCreated, eventSpaceChanged, eventSpaceRemoved}
}
