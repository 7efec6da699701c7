package cloudconfig

import (
	"fmt"
	"reflect"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/site"
	"roomgate/drivers"
)

// site checks the spaces and devices.
func (c *configuring) site() error {
	change, err := c.turn.StageManaged(c.ctx, site.Managed{Spaces: c.down.Spaces, Devices: c.down.Devices}, c.by)
	if err != nil {
		return err
	}
	part := change.Opens()
	c.opens(part, part != "")
	c.next = change.Next
	c.add(change.Stage())
	return nil
}

// permissions checks who may give which command: what is not named is for all.
func (c *configuring) permissions() error {
	if c.down.Permissions == nil {
		return nil
	}
	byDevice := map[string][]device.Permission{}
	for i, p := range *c.down.Permissions {
		at := fmt.Sprintf("permissions[%d]", i)
		d := c.next.Device(p.DeviceID)
		if d == nil {
			return problem.New(problem.NotFound, at+".device_id", "is not a device of this building")
		}
		one := []device.Permission{p.Permission}
		if err := d.CheckPermissions(one); err != nil {
			return problem.New(problem.Invalid, at, "%s", device.AsError(err).Message)
		}
		byDevice[d.ID] = append(byDevice[d.ID], one[0])
	}
	for _, d := range c.next.Devices() {
		was := d.Live().Set
		set := was
		set.Permissions = nil
		if all := byDevice[d.ID]; len(all) > 0 {
			if len(all) > device.MaxPermissions {
				return problem.New(problem.Invalid, "permissions", "are %d for %s: want at most %d", len(all), d.ID, device.MaxPermissions)
			}
			set.Permissions = &all
		}
		if set.Permissions == nil && was.Permissions == nil {
			continue
		}
		c.opens("permissions", d.Type == drivers.TypeLock && !reflect.DeepEqual(set.Permissions, was.Permissions))
		c.add(d.Stage(set, c.by))
	}
	return nil
}

// codes checks the unlock codes.
func (c *configuring) codes() error {
	if c.down.UnlockCodes == nil {
		return nil
	}
	s, ids, err := c.o.Unlock.Stage(*c.down.UnlockCodes, c.kept.Codes, c.o.Doors(c.next), c.by)
	if err != nil {
		return under("unlock_codes", err)
	}
	c.opens("unlock_codes", len(ids) > 0)
	c.kept.Codes = ids
	c.add(s)
	return nil
}
