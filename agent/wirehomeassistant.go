package agent

import (
	"context"

	"roomgate/agent/device"
	"roomgate/agent/homeassistant"
	"roomgate/agent/site"
	"roomgate/drivers"
)

// homeAssistantOptions are what Home Assistant is told from.
func homeAssistantOptions(a *Agent) homeassistant.Options {
	settings := a.options.Config.Broker.HomeAssistant
	settings.Publish = settings.Publish && a.options.Config.Broker.Listen != "" // else there is no room broker
	return homeassistant.Options{
		Settings: settings, Gateway: a.options.Config.Gateway.ID, Version: a.options.Version, Dial: a.options.Buses.Dial, Log: a.options.Log,
		Devices: func() []homeassistant.Device { return roomDevices(a.Site.Spaces()) }, Replaced: a.Site.Replaced, Changed: a.Events.Changed,
		Status: func(d homeassistant.Device, sub string) (homeassistant.Reading, bool) {
			r, err := a.Site.Status(d.SpaceID, d.Type, sub)
			return homeassistant.Reading{Value: r.Value, Offline: r.Offline(), Details: r.Details}, err == nil
		},
		Describe: func(d homeassistant.Device) drivers.Description {
			if found, err := a.Site.Device(d.SpaceID, d.Type); err == nil {
				return found.Describe()
			}
			return drivers.Description{} // one that is gone takes no action
		},
		Do: func(ctx context.Context, c homeassistant.Command) error {
			_, err := a.Commands.Accept(ctx, device.Command{Space: c.SpaceID, DeviceType: c.Type, SubDevice: c.Sub, Action: c.Action, Value: c.Value,
				TTL: homeassistant.CommandLife, Via: device.ViaRoom, By: "room broker"})
			return err
		},
	}
}

// roomDevices are those that Home Assistant is told of: not the ones that are
// off by their configuration and still are.
func roomDevices(spaces []*site.Space) (all []homeassistant.Device) {
	for _, s := range spaces {
		for _, d := range s.Devices {
			if d.Enabled || d.Live().Enabled {
				all = append(all, homeassistant.Device{ID: d.ID, Type: d.Type, SpaceID: s.ID, Space: s.Name})
			}
		}
	}
	return all
}
