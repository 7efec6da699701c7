package agent

import (
	"context"
	"errors"
	"time"

	"roomgate/agent/claim"
	"roomgate/agent/homeassistant"
	"roomgate/cloud"
	"roomgate/drivers"
	"roomgate/store"
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

// claimOptions are what the gateway's claim stands on.
func claimOptions(a *Agent) claim.Options {
	return claim.Options{
		DB: a.db, Events: a.Events, Clock: a.clock.Clock, Keys: a.signIn.keys, Log: a.log,
		Cloud: a.config.Cloud, ID: a.config.Gateway.ID, Name: a.config.Gateway.Name, Simulated: a.options.Simulated,
		Moment: a.moment, Online: a.Online, Page: func() string { return a.Network().page("/claim") },
		Organization: nameOrganization,
		Answer: func(tx *store.Tx, message string) error {
			return a.pushReceipt(tx, Command{Via: ViaMQTT}, done(message))
		},
		Refuse: func(ctx context.Context, message cloud.Envelope, why *Error) error {
			return a.refuseMessage(ctx, message, why)
		},
		LoginChanged: func() {
			if a.link != nil {
				a.link.Renew()
			}
		},
	}
}

// nameOrganization stores an organization. One that so far only the
// configuration names gets the name; one that has a name keeps it.
func nameOrganization(tx *store.Tx, id, name string, created time.Time) error {
	o, err := organizations.Get(tx, id)
	switch {
	case errors.Is(err, store.ErrNotFound) && organizations.Len(tx) >= maxOrganizations:
		return refuse(Conflict, "organization_id", "is new, and there are %d organizations, the most that a gateway keeps", maxOrganizations)
	case errors.Is(err, store.ErrNotFound):
		o = Organization{ID: id, Name: name, CreatedAt: created}
	case err != nil:
		return err
	case o.Name == o.ID:
		o.Name = name
	}
	return organizations.Put(tx, o.ID, o)
}
