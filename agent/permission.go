package agent

import (
	"slices"
	"unicode/utf8"

	"roomgate/agent/access"
	"roomgate/drivers"
)

// maxPermissions is how many permissions a device has at most.
const maxPermissions = 50

// DevicePermission says who may give an order to a device. One that no
// permission names is for everybody who may give orders at all. A system key,
// the cloud, the schedule and rules may always.
type DevicePermission struct {
	SubDevice string   `json:"sub_device,omitempty"`
	Action    string   `json:"action"`
	Allow     []string `json:"allow"` // of access.KindOrganization, KindAdmin and KindUser; empty: nobody else
}

// checkPermissions refuses permissions that mean nothing for a device.
func checkPermissions(d *device, all []DevicePermission) error {
	if len(all) > maxPermissions {
		return refuse(Invalid, "permissions", "are %d: want at most %d", len(all), maxPermissions)
	}
	for i := range all {
		p := &all[i]
		p.SubDevice = drivers.Canonical(p.SubDevice)
		if p.SubDevice != "" && !slices.Contains(drivers.SubDevices(d.Type), p.SubDevice) {
			return refuse(Invalid, "permissions", "has the sub-device %q: a %s has %s", clipped(p.SubDevice, 40), d.Type, listed(drivers.SubDevices(d.Type)))
		}
		if known := d.description.Load(); known != nil {
			if names := actionNames(*known, p.SubDevice); !slices.Contains(names, p.Action) {
				return refuse(Invalid, "permissions", "has the action %q: want one of %s", clipped(p.Action, 40), listed(names))
			}
		}
		for _, who := range p.Allow {
			if who != access.KindOrganization && who != access.KindAdmin && who != access.KindUser {
				return refuse(Invalid, "permissions", "allows %q: want %s, %s or %s", clipped(who, 40), access.KindOrganization, access.KindAdmin, access.KindUser)
			}
		}
	}
	return nil
}

// Permits refuses an order that who asks may not give to a device.
func (a *Agent) Permits(p access.Principal, spaceID, deviceType, sub, action string) error {
	d, err := a.device(spaceID, deviceType)
	if err != nil || p.System() || p.Kind == access.KindSystem {
		return nil // what is not there, the order itself is refused for
	}
	set := d.live().set.Permissions
	if set == nil {
		return nil
	}
	sub = drivers.Canonical(sub)
	for _, one := range *set {
		if one.Action == action && one.SubDevice == sub && !slices.ContainsFunc(one.Allow, p.Is) {
			return refuse(Forbidden, "action", "is not permitted to you at this device: it is for %s", listed(append([]string{access.KindSystem}, one.Allow...)))
		}
	}
	return nil
}

// clipped cuts a text to so many bytes, between two characters.
func clipped(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
