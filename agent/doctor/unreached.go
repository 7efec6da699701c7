package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"roomgate/agent/config"
	"roomgate/agent/roombroker"
	"roomgate/drivers"
)

// unreached is where to look first when a device is offline, by what its driver reaches it over.
func unreached(ctx context.Context, x *examination, d Device) string {
	c, ok := configuredDevice(x, d)
	if !ok && x.Config != nil && d.Type != drivers.TypeCamera && d.Type != drivers.TypeO3 {
		return "check its power, its wiring or network, and its options at the console"
	}
	if !ok || c.Options == nil {
		return fix(d.Type)
	}
	if at, ok := c.Options.(drivers.AtRoomBroker); ok && len(at.Accounts()) > 0 {
		return unheard(x, c.ID)
	}
	needs, err := ask(ctx, c)
	switch {
	case err == nil && len(needs) > 0 && needs[0].kind == kindCamera:
		return "check its cable, and that " + placeOf(x, c.ID) + " names it"
	case len(needs) > 0:
		return fix("") // it is wired, whatever its type
	case err != nil || d.Type == drivers.TypeCamera || d.Type == drivers.TypeO3:
		return fix(d.Type)
	}
	return "check its power and network, and its broker or address, user and password in " + placeOf(x, c.ID)
}

// unheard is where to look first when a device at the room broker is offline.
func unheard(x *examination, id string) string {
	users := roombroker.Of(x.Config).Speakers(id)
	if refused := slices.IndexFunc(x.Building.Refused, func(r RefusedLogIn) bool { return slices.Contains(users, r.User) }); refused >= 0 {
		return "correct the password of user " + x.Building.Refused[refused].User + " first, as log-in at the room broker says"
	}
	as := ""
	if len(users) > 0 {
		as = " as user " + strings.Join(users, " or ")
	}
	return "check its power and network, that it or its bridge logs in at the room broker" + as + ", and its topic in " + placeOf(x, id)
}

// placeOf is where a device of the configuration is written.
func placeOf(x *examination, id string) string {
	if o, ok := x.Config.Origin(x.Config.Naming(id, "\x00")); ok && o.Line > 0 {
		return fmt.Sprintf("%s at line %d", opened(x, x.ConfigFile), o.Line)
	}
	return opened(x, x.ConfigFile)
}

// configuredDevice is a device as the configuration has it; not ok: it is not from there.
func configuredDevice(x *examination, d Device) (c config.Device, ok bool) {
	if x.Config == nil {
		return c, false
	}
	id := configured(x, d)
	for _, s := range x.Config.Spaces {
		if i := slices.IndexFunc(s.Devices, func(c config.Device) bool { return c.ID == id }); id != "" && i >= 0 {
			return s.Devices[i], true
		}
	}
	return c, false
}
