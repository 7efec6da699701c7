package drivers

import "time"

// Status is one observation of a device or a sub-device.
type Status struct {
	// Sub names the sub-device; empty means the device itself.
	Sub string
	// Value is what design and platform call it: "open", "on", "21.5".
	Value string
	// ObservedAt is when the hardware said so, by the gateway's clock.
	ObservedAt time.Time
	// Source is what said so: "sense line", "tmp102 0x48", "report". Where a
	// device cannot be read back it is SourceCommand.
	Source string
	// Details are further facts, shown where the platform has room for them:
	// {"door": "ajar"}, {"rpm": 1240}. Nil for none.
	Details map[string]any
	// Picture is the result of a snapshot or a screenshot.
	Picture *Picture
	// Err says why this sub-device could not be observed.
	Err error
}

// SourceCommand marks a value that a command set and that cannot be read back.
const SourceCommand = "order"

// Picture is an encoded image.
type Picture struct {
	ContentType string // "image/jpeg" or "image/png"
	Data        []byte
}

// The values that a status takes.
const (
	Open     = "open"
	Closed   = "closed"
	On       = "on"
	Off      = "off"
	Occupied = "occupied"
	Vacant   = "vacant"
)

// OnOff returns the value of a switch.
func OnOff(on bool) string {
	if on {
		return On
	}
	return Off
}
