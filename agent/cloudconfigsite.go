package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"roomgate/agent/device"
)

// site checks the spaces and devices.
func (c *configuring) site() error {
	edits, names := map[string]*addition{}, map[string]string{}
	for _, kind := range []struct {
		name   string
		device bool
		items  *[]json.RawMessage
	}{{"spaces", false, c.down.Spaces}, {"devices", true, c.down.Devices}} {
		if kind.items == nil {
			continue
		}
		for key, was := range c.agent.additions {
			if was.Cloud && isDevice(key) == kind.device {
				edits[key] = nil
			}
		}
		for i, item := range *kind.items {
			p, err := managed(item, kind.device)
			if err != nil {
				return in(kind.name, i, err)
			}
			key := p.key()
			switch was := c.agent.additions[key]; {
			case names[key] != "":
				return in(kind.name, i, refuse(Invalid, "id", "is there twice"))
			case was != nil && !was.Cloud:
				return in(kind.name, i, refuse(Conflict, "id", "was made in the building: remove it there, or choose another"))
			case was != nil && was.SpaceID == p.SpaceID && bytes.Equal(was.Data, p.Data):
				delete(edits, key)
			default:
				edits[key] = p
			}
			names[key] = fmt.Sprintf("%s[%d]", kind.name, i)
		}
	}
	r, err := c.agent.stageSite(c.ctx, c.agent.file, edits, names, c.by)
	if err != nil {
		return err
	}
	c.next = r.next
	c.add(r.stage())
	return nil
}

// managed is a space or device as the cloud says it.
func managed(item json.RawMessage, device bool) (*addition, error) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(item, &document); err != nil || document == nil {
		return nil, refuse(Invalid, "", "is not an object")
	}
	p := &addition{Cloud: true}
	wanted := map[string]*string{"id": &p.ID}
	if device {
		wanted["meeting_space_id"] = &p.SpaceID
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if json.Unmarshal(document[name], wanted[name]) != nil || *wanted[name] == "" {
			return nil, refuse(Invalid, name, "is missing")
		}
		delete(document, name)
	}
	var err error
	if p.Data, err = json.Marshal(document); len(p.Data) > maxAddition {
		err = refuse(Invalid, "", "is too large: want at most %d KiB", maxAddition>>10)
	}
	return p, err
}

// permissions checks who may give which order: what is not named is for all.
func (c *configuring) permissions() error {
	if c.down.Permissions == nil {
		return nil
	}
	byDevice := map[string][]device.Permission{}
	for i, p := range *c.down.Permissions {
		d := c.next.device(p.DeviceID)
		if d == nil {
			return in("permissions", i, refuse(NotFound, "device_id", "is not a device of this building"))
		}
		one := []device.Permission{p.Permission}
		if err := d.CheckPermissions(one); err != nil {
			return in("permissions", i, refuse(Invalid, "", "%s", AsError(err).Message))
		}
		byDevice[d.ID] = append(byDevice[d.ID], one[0])
	}
	for _, d := range c.next.devices() {
		was := d.Live().Set
		set := was
		set.Permissions = nil
		if all := byDevice[d.ID]; len(all) > 0 {
			if len(all) > device.MaxPermissions {
				return refuse(Invalid, "permissions", "are %d for %s: want at most %d", len(all), d.ID, device.MaxPermissions)
			}
			set.Permissions = &all
		}
		if set.Permissions == nil && was.Permissions == nil {
			continue
		}
		c.add(d.Stage(set, c.by))
	}
	return nil
}

// codes checks the unlock codes.
func (c *configuring) codes() error {
	if c.down.UnlockCodes == nil {
		return nil
	}
	s, ids, err := c.agent.Unlock.Stage(*c.down.UnlockCodes, c.kept.Codes, c.next.doors(), c.by)
	if err != nil {
		return under("unlock_codes", err)
	}
	c.kept.Codes = ids
	c.add(s)
	return nil
}
