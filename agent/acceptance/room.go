package acceptance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/site"
	"roomgate/drivers"
)

// ErrUnreachable is what a Command wraps when it is the gateway that does not
// answer, and not the device.
var ErrUnreachable = errors.New("the gateway does not answer")

// Command is what a device is told to do.
type Command struct {
	DeviceType string `json:"device_type"`
	SubDevice  string `json:"sub_device,omitempty"`
	Action     string `json:"action"`
	Value      any    `json:"value,omitempty"`
}

// Room is a meeting space as somebody who reaches its gateway can ask.
type Room struct {
	site.SpaceInfo
	// Command gives a command and waits for its final receipt.
	Command func(ctx context.Context, o Command) (device.Receipt, error)
	// Read returns the readings of a device and its sub-devices.
	Read func(ctx context.Context, deviceType string) ([]device.Reading, error)
	// Picture returns the last picture of a camera or a display.
	Picture func(ctx context.Context, deviceType string) (drivers.Picture, error)
}

// restoreTime bounds how long it may take to bring a device back to what it
// was, also when the caller no longer waits.
const restoreTime = 20 * time.Second

// device returns the room's device of a type.
func (r Room) device(deviceType string) (device.Info, error) {
	i := slices.IndexFunc(r.Devices, func(d device.Info) bool { return d.Type == deviceType })
	if i < 0 {
		return device.Info{}, fmt.Errorf("there is no %s in %s", deviceType, r.Name)
	}
	return r.Devices[i], nil
}

// do gives a command and returns its evidence; a command that was not carried
// out is an error.
func (r Room) do(ctx context.Context, o Command) (device.Receipt, error) {
	receipt, err := r.Command(ctx, o)
	if err == nil && receipt.State != device.Done {
		err = errors.New(cmp.Or(receipt.Reason, "the command is "+string(receipt.State)))
	}
	return receipt, err
}

// takes says whether a device takes an action.
func takes(d device.Info, sub, action string) bool {
	_, _, ok := d.Description.Action(sub, action)
	return ok
}

// find is the reading of a sub-device, or of the device if sub is empty.
func find(all []device.Reading, sub string) device.Reading {
	for _, r := range all {
		if r.SubDevice == sub {
			return r
		}
	}
	return device.Reading{Record: device.Record{Status: device.Offline}, SubDevice: sub, Reason: "the gateway says nothing of it"}
}

// restore brings a device back to what it was. It is done in the background of
// ctx: an installer who interrupts leaves no room blinking.
func (r Room) restore(ctx context.Context, d device.Info, before []device.Reading) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
	defer cancel()
	for _, was := range before {
		for _, o := range back(was) {
			o.DeviceType, o.SubDevice = d.Type, was.SubDevice
			if !takes(d, o.SubDevice, o.Action) {
				continue
			}
			if _, e := r.do(ctx, o); e != nil {
				err = errors.Join(err, fmt.Errorf("%s is not as it was: %s: %w", was.Device, o.Action, e))
			}
		}
	}
	return err
}

// back are the commands that make a device what it was.
func back(was device.Reading) []Command {
	if was.Status == device.Offline {
		return nil
	}
	switch {
	case was.SubDevice == drivers.SubRing:
		return ringBack(was)
	case was.SubDevice == drivers.SubBuzzer, was.DeviceType == drivers.TypeCamera:
		return []Command{{Action: was.Value}}
	case was.DeviceType == drivers.TypeLight, was.DeviceType == drivers.TypeFan:
		level, known := was.Details["intensity"]
		if was.Value == drivers.On && known {
			return []Command{{Action: drivers.ActIntensity, Value: level}}
		}
		return []Command{{Action: was.Value}}
	case was.DeviceType == drivers.TypeDisplay: // its page comes back without a message
		if was.Details["backlight"] == drivers.Off {
			return []Command{{Action: drivers.ActRefresh}, {Action: drivers.ActOff}}
		}
		return []Command{{Action: drivers.ActRefresh}, {Action: drivers.ActOn}}
	case was.DeviceType == drivers.TypeLock: // what was locked is locked; what stood open is not opened again
		return []Command{{Action: drivers.ActClose}}
	}
	return nil
}

// ringBack brings the color or the pattern back, then the light itself.
func ringBack(was device.Reading) (commands []Command) {
	if color, ok := was.Details["color"]; ok {
		commands = append(commands, Command{Action: drivers.ActColor, Value: color})
	} else if pattern, ok := was.Details["pattern"]; ok && was.Value == drivers.On {
		commands = append(commands, Command{Action: drivers.ActPattern, Value: pattern})
	}
	if was.Value == drivers.Off {
		commands = append(commands, Command{Action: drivers.ActOff})
	}
	return commands
}

// pause waits, and is ctx's error if that ended first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
