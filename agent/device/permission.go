package device

import (
	"slices"

	"roomgate/agent/printable"
	"roomgate/agent/problem"
	"roomgate/drivers"
)

// MaxPermissions is how many permissions a device has at most.
const MaxPermissions = 50

// Whom a permission may allow, beside system keys: the kinds of those who ask.
const (
	AllowOrganization = "organization" // a key of an organization
	AllowAdmin        = "admin"        // a user who manages the building or an organization
	AllowUser         = "user"         // a person who signed in
)

// Permission says who may give a command to a device. A command that no permission
// names is for everybody who may give commands at all. A system key, the cloud,
// the schedule and rules may always.
type Permission struct {
	SubDevice string   `json:"sub_device,omitempty"`
	Action    string   `json:"action"`
	Allow     []string `json:"allow"` // of AllowOrganization, AllowAdmin and AllowUser; empty: nobody else
}

// CheckPermissions refuses permissions that mean nothing for a device.
func (d *Device) CheckPermissions(all []Permission) error {
	if len(all) > MaxPermissions {
		return problem.New(problem.Invalid, "permissions", "are %d: want at most %d", len(all), MaxPermissions)
	}
	for i := range all {
		p := &all[i]
		p.SubDevice = drivers.Canonical(p.SubDevice)
		if p.SubDevice != "" && !slices.Contains(drivers.SubDevices(d.Type), p.SubDevice) {
			return problem.New(problem.Invalid, "permissions", "has the sub-device %q: a %s has %s", printable.Cut(p.SubDevice, 40, ""), d.Type, problem.List(drivers.SubDevices(d.Type)))
		}
		if known := d.description.Load(); known != nil {
			if names := known.ActionNames(p.SubDevice); !slices.Contains(names, p.Action) {
				return problem.New(problem.Invalid, "permissions", "has the action %q: want one of %s", printable.Cut(p.Action, 40, ""), problem.List(names))
			}
		}
		for _, who := range p.Allow {
			if who != AllowOrganization && who != AllowAdmin && who != AllowUser {
				return problem.New(problem.Invalid, "permissions", "allows %q: want %s, %s or %s", printable.Cut(who, 40, ""), AllowOrganization, AllowAdmin, AllowUser)
			}
		}
	}
	return nil
}
