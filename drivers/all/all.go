// Package all is the one list of the drivers that the product has.
package all

import (
	"roomgate/drivers"
	"roomgate/drivers/camera"
	"roomgate/drivers/display"
	"roomgate/drivers/fan"
	"roomgate/drivers/light"
	"roomgate/drivers/lock"
	"roomgate/drivers/mqttdevice"
	"roomgate/drivers/o3"
	"roomgate/drivers/parts"
	"roomgate/drivers/webcam"
)

// All returns every driver: those of the board in the order in which people
// read the types, then those of the room broker.
func All() []drivers.Kind {
	return append([]drivers.Kind{
		lock.Kind(),
		light.Kind(),
		fan.Kind(),
		camera.Kind(),
		webcam.Kind(),
		o3.Kind(),
		parts.Kind(),
		display.Kind(),
	}, mqttdevice.Kinds()...)
}
