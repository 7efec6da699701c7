package drivers

import "context"

// Driver is one opened device. The building calls Poll and Do one at a time,
// never both at once; Watch runs beside them, and Close comes last.
type Driver interface {
	// Describe says what the device is and which commands it takes. It is
	// constant for the life of the driver and touches no hardware.
	Describe() Description
	// Poll observes the device and its sub-devices, one Status each. A
	// sub-device that cannot be observed has Err set; an error returned from
	// Poll means that nothing could be observed. ErrOffline and ErrNoValue are
	// definite, every other error may pass. A Status without Err holds now:
	// the driver knows how old each value may grow, and ends it alone.
	Poll(ctx context.Context) ([]Status, error)
	// Do carries a command out and reads it back. The Status is the evidence.
	// ErrNotConfirmed means the order was given and the device did not follow.
	Do(ctx context.Context, c Command) (Status, error)
	// Close brings the device into its safe state and gives its lines back.
	// It is idempotent and does not close a bus.
	Close() error
}

// Watcher is the optional side of a driver whose hardware speaks by itself:
// edges, reports, a page that beats.
type Watcher interface {
	// Watch reports until ctx ends or the source is lost. report must not be
	// called after Watch has returned; it never blocks for long. An Event
	// whose Type is EventChanged asks for a Poll now and is not itself logged.
	Watch(ctx context.Context, report func(Event)) error
}

// Options is one driver's part of the configuration: a pointer to a struct
// with yaml tags, filled with defaults, over which the file is laid.
type Options interface {
	// Check refuses values out of range with a *FieldError that names the
	// yaml field. It touches no hardware.
	Check() error
	// Open acquires the lines and returns the device in its safe state. It
	// must not pulse any output.
	Open(ctx context.Context, b Buses) (Driver, error)
}

// Kind is a driver as the configuration names it.
type Kind struct {
	// Name is what follows `driver:` in the configuration, as "lock-relay".
	Name string
	// Type is the device type, one of the Type constants.
	Type string
	// Summary says in one line what hardware it is for.
	Summary string
	// Options returns new options with this driver's defaults.
	Options func() Options
}
