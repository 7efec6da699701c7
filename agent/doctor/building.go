package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/health"
	"roomgate/agent/setup"
	"roomgate/drivers"
)

// configuration says whether there is one and whether it is valid.
func configuration(_ context.Context, x *examination) []Finding {
	const name = "configuration"
	var problems *config.Errors
	switch err := x.ConfigError; {
	case errors.As(err, &problems):
		seen := problems.Problems[0].String()
		if more := len(problems.Problems) - 1; more > 0 {
			seen += "; and " + count(more, "mistake") + " more"
		}
		return one(fail(name, seen, "correct what sudo roomgate check-config says of "+x.ConfigFile))
	case errors.Is(err, fs.ErrNotExist) && x.ConfigFlag != "": // somebody named it
		return one(fail(name, "there is no "+x.ConfigFile, "write it with sudo roomgate setup, or name another with --config"))
	case errors.Is(err, fs.ErrNotExist) && x.simulated():
		return one(good(name, "the one that is built in"))
	case errors.Is(err, fs.ErrNotExist):
		return one(warn(name, "there is no "+x.ConfigFile+": lines, buses and certificates cannot be examined",
			"write one with sudo roomgate setup, or name it with --config"))
	case errors.Is(err, fs.ErrPermission):
		return one(fail(name, err.Error(), asRoot(x)))
	case err != nil:
		return one(fail(name, err.Error(), "name a readable file with --config"))
	}
	if seen, todo := readable(x); seen != "" {
		return one(fail(name, seen, todo))
	}
	devices := 0
	for _, s := range x.Config.Spaces {
		devices += len(s.Devices)
	}
	return one(good(name, "%s: valid, %s with %s", x.ConfigFile, count(len(x.Config.Spaces), "meeting space"), count(devices, "device")))
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// gateway says whether one runs here.
func gateway(_ context.Context, x *examination) []Finding {
	const name = "gateway"
	b := x.Building
	if b == nil {
		seen, todo, _ := strings.Cut(fmt.Sprint(x.BuildingError), ": ")
		if !strings.HasSuffix(seen, "may not be opened") {
			todo = startCommand(x)
		}
		return one(warn(name, seen, todo))
	}
	seen := fmt.Sprintf("%s runs version %s for %v", b.ID, b.Version, time.Duration(b.UptimeS)*time.Second)
	if b.Simulated {
		seen += ", simulated: no hardware is below it"
	}
	if p := x.Building.pending(); p.Changed {
		seen += ", and the configuration has changed since"
		if p.Restart != "" {
			seen += ": " + p.Restart + " takes a restart"
		}
		return one(warn(name, seen, x.again()))
	}
	if x.Config != nil && x.Config.Gateway.ID != b.ID && !b.Simulated {
		return one(warn(name, fmt.Sprintf("%s, but the configuration is of %s", seen, x.Config.Gateway.ID), "name the configuration that it runs with by --config"))
	}
	return one(good(name, "%s", seen))
}

// devices are what the running gateway says of each device.
func devices(ctx context.Context, x *examination) (found []Finding) {
	if x.Building == nil {
		return nil
	}
	for _, d := range x.Building.Devices {
		f := d.finding()
		switch {
		case f.State != Fail:
		case strings.Contains(f.Seen, drivers.ErrPassword.Error()):
			f.Fix = refused(x, d)
		case strings.Contains(f.Seen, drivers.ErrNoLine.Error()):
			f.Fix = unwired(x, d)
		case d.Type == drivers.TypeDisplay:
			f.Fix = unopened(x, d)
		default:
			f.Fix = unreached(ctx, x, d)
		}
		found = append(found, f)
	}
	return found
}

func (d Device) finding() Finding {
	name := strings.ToLower(d.Space) + " " + d.Type
	if !d.Enabled {
		return warn(name, "not enabled", "set enabled: true once it is wired")
	}
	var seen, reasons []string
	offline := map[string][]string{} // what is, by the reason
	for _, r := range d.Readings {
		if notFitted(r) {
			seen = append(seen, r.Device+" not fitted")
		} else if r.Status == device.Offline {
			if offline[r.Reason] == nil {
				reasons = append(reasons, r.Reason)
			}
			offline[r.Reason] = append(offline[r.Reason], r.Device)
		} else if r.Value != "" {
			seen = append(seen, r.Device+" "+r.Value)
		}
	}
	for i, reason := range reasons { // a hub has one for all its parts
		reasons[i] = strings.TrimSuffix(strings.Join(offline[reason], ", ")+" offline: "+reason, ": ")
	}
	if len(reasons) > 0 {
		why := strings.Join(reasons, "; ")
		return fail(name, why, fix(d.Type))
	}
	if len(seen) == 0 {
		return good(name, "online")
	}
	return good(name, "online, %s", strings.Join(seen, ", "))
}

// refused is where to correct the password with which a device refuses the gateway.
func refused(x *examination, d Device) string {
	again := ", then " + x.restart()
	if x.Config == nil {
		return "correct username and password in the configuration" + again
	}
	id := configured(x, d)
	if id == "" {
		return "remove the device from the console, and add it there with the right password"
	}
	return rightPassword(x, id) + again
}

// rightPassword is where the password of a device of the configuration is corrected.
func rightPassword(x *examination, id string) string {
	key := x.Config.Naming(id, "\x00") + ".options."
	for _, f := range x.Config.Files() {
		if strings.HasPrefix(f.Key, key) && strings.HasSuffix(f.Key, "password_file") {
			return "write the right password into " + typedInto(x, cmp.Or(config.CredentialSource(f.Path), f.Path))
		}
	}
	return "correct username and password of " + id + " in " + opened(x, x.ConfigFile)
}

// unwired is where to correct a line, channel or bus that the board does not have.
func unwired(x *examination, d Device) string {
	const wanted = "the name of what it is wired to"
	if x.Config == nil {
		return "write " + wanted + " into the configuration, then " + x.restart()
	}
	id := configured(x, d)
	if id == "" {
		return "remove the device from the console, and add it there with " + wanted
	}
	return "name " + d.Space + " in sudo roomgate setup and answer with " + wanted + ", or write it into " + placeOf(x, id) + "; then " + x.restart()
}

// unopened is how a display gets the page of its meeting space.
func unopened(x *examination, d Device) string {
	page := ""
	if x.Config != nil {
		if i := slices.IndexFunc(x.Config.Spaces, func(s config.Space) bool { return s.Name == d.Space }); i >= 0 {
			page = health.NetworkOf(x.Config).Page("/display/" + x.Config.Spaces[i].ID)
		}
	}
	if page != "" {
		page = "; one that was paired before opens " + page + " again"
	}
	return "open the link that sudo roomgate space pair " + setup.ShellWord(d.Space) + " --qr prints in the browser of the display" + page
}

// configured is the id of a device in the configuration, empty: it is not from there.
func configured(x *examination, d Device) string {
	for _, s := range x.Config.Spaces {
		if i := slices.IndexFunc(s.Devices, func(c config.Device) bool { return c.Type == d.Type }); s.Name == d.Space && i >= 0 {
			return s.Devices[i].ID
		}
	}
	return ""
}

// notFitted says whether a hub has no such part, which is how it was bought.
func notFitted(r device.Reading) bool {
	return r.SubDevice != "" && strings.Contains(r.Reason, drivers.ErrUnsupported.Error())
}

// fix is where to look first when a device of a type is offline.
func fix(deviceType string) string {
	switch deviceType {
	case drivers.TypeCamera:
		return "check its power and network, and that url, username and password are the camera's"
	case drivers.TypeO3:
		return "check its power and cable, and address and password in the configuration"
	}
	return "check the wiring, and that the configuration names the line it is on"
}
