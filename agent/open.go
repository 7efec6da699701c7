package agent

import (
	"context"

	"roomgate/agent/homeassistant"
	"roomgate/drivers"
)

// homeAssistantOptions are what Home Assistant is told from.
func homeAssistantOptions(a *Agent) homeassistant.Options {
	settings := a.config.Broker.HomeAssistant
	settings.Publish = settings.Publish && a.config.Broker.Listen != "" // else there is no room broker
	return homeassistant.Options{
		Settings: settings, Gateway: a.config.Gateway.ID, Version: a.options.Version, Dial: a.options.Buses.Dial, Log: a.log,
		Devices: func() []homeassistant.Device { return roomDevices(a.spaces()) }, Replaced: a.rebuilt.Wait, Changed: a.Events.Changed,
		Status: func(d homeassistant.Device, sub string) (homeassistant.Reading, bool) {
			r, err := a.Status(d.SpaceID, d.Type, sub)
			return homeassistant.Reading{Value: r.Value, Offline: r.offline(), Details: r.Details}, err == nil
		},
		Describe: func(d homeassistant.Device) drivers.Description {
			described, _ := a.Describe(d.SpaceID, d.Type) // one that is gone takes no action
			return described
		},
		Do: func(ctx context.Context, c homeassistant.Command) error {
			_, err := a.Accept(ctx, Command{Space: c.SpaceID, DeviceType: c.Type, SubDevice: c.Sub, Action: c.Action, Value: c.Value,
				TTL: homeassistant.CommandLife, Via: ViaRoom, By: "room broker"})
			return err
		},
	}
}

// roomDevices are those that Home Assistant is told of: not the ones that are
// off by their configuration and still are.
func roomDevices(spaces []*space) (all []homeassistant.Device) {
	for _, s := range spaces {
		for _, d := range s.devices {
			if d.Enabled || d.live().Enabled {
				all = append(all, homeassistant.Device{ID: d.ID, Type: d.Type, SpaceID: s.ID, Space: s.Name})
			}
		}
	}
	return all
}
