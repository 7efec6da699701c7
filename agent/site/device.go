package site

import (
	"context"

	"roomgate/agent/device"
)

// Device returns the device of that type in a space, or a refusal that names
// the field at fault.
func (s *Site) Device(spaceID, deviceType string) (*device.Device, error) {
	space, err := s.Space(spaceID)
	if err != nil {
		return nil, err
	}
	return space.Device(deviceType)
}

// Devices returns the devices of a space, or of the building if spaceID is
// empty.
func (s *Site) Devices(spaceID string) ([]device.Info, error) {
	if spaceID != "" {
		space, err := s.Space(spaceID)
		if err != nil {
			return nil, err
		}
		return space.infos(), nil
	}
	var all []device.Info
	for _, space := range s.Spaces() {
		all = append(all, space.infos()...)
	}
	return all, nil
}

// SpaceOfDevice returns the id of the space that a device is in, or a refusal.
func (s *Site) SpaceOfDevice(deviceID string) (string, error) {
	d, err := s.Now().device(deviceID)
	if err != nil {
		return "", err
	}
	return d.SpaceID, nil
}

// Status returns the reading of one device, or of a sub-device if sub is not
// empty. It takes no lock and touches no disk.
func (s *Site) Status(spaceID, deviceType, sub string) (device.Reading, error) {
	d, err := s.Device(spaceID, deviceType)
	if err != nil {
		return device.Reading{}, err
	}
	return d.Status(sub)
}

// StatusAll returns the readings of every device and sub-device of a space,
// in the order of the configuration.
func (s *Site) StatusAll(spaceID string) ([]device.Reading, error) {
	space, err := s.Space(spaceID)
	if err != nil {
		return nil, err
	}
	var all []device.Reading
	for _, d := range space.Devices {
		all = append(all, d.Readings()...)
	}
	return all, nil
}

// SetDevice stores what is changed of a device: see device.Device.Change.
func (s *Site) SetDevice(ctx context.Context, id string, change device.Settings, reset bool, by string) (device.Info, error) {
	t, err := s.Turn(ctx)
	if err != nil {
		return device.Info{}, err
	}
	defer t.End()
	d, err := s.Now().device(id)
	if err != nil {
		return device.Info{}, err
	}
	if err := d.Change(ctx, change, reset, by); err != nil {
		return device.Info{}, err
	}
	return s.Now().info(d), nil
}
