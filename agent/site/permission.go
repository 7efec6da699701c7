package site

import (
	"slices"

	"roomgate/agent/access"
	"roomgate/agent/problem"
	"roomgate/drivers"
)

// Permits refuses a command that who asks may not give to a device.
func (s *Site) Permits(p access.Principal, spaceID, deviceType, sub, action string) error {
	d, err := s.Device(spaceID, deviceType)
	if err != nil || p.System() || p.Kind == access.KindSystem {
		return nil // what is not there, the command itself is refused for
	}
	sub = drivers.Canonical(sub)
	for _, one := range d.Live().Permissions() {
		if one.Action == action && one.SubDevice == sub && !slices.ContainsFunc(one.Allow, p.Is) {
			return problem.New(problem.Forbidden, "action", "is not permitted to you at this device: it is for %s", problem.List(append([]string{access.KindSystem}, one.Allow...)))
		}
	}
	return nil
}
