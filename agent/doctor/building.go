package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/drivers"
)

// configuration says whether there is one and whether it is valid.
func configuration(_ context.Context, x *examination) []Finding {
	const name = "configuration"
	var problems *config.Errors
	switch err := x.ConfigError; {
	case errors.As(err, &problems):
		return one(fail(name, fmt.Sprintf("%s, in all %s", problems.Problems[0], count(len(problems.Problems), "problem")), "see roomgate check-config "+x.ConfigFile))
	case errors.Is(err, fs.ErrNotExist):
		return one(warn(name, "there is no "+x.ConfigFile+": lines, buses and certificates cannot be examined",
			"write one as configs/gateway.yaml shows, or name it with --config"))
	case err != nil:
		return one(fail(name, err.Error(), "name a readable file with --config"))
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
			todo = "systemctl start roomgate, and see journalctl -u roomgate if it does not stay"
		}
		return one(warn(name, seen, todo))
	}
	seen := fmt.Sprintf("%s runs version %s for %v", b.ID, b.Version, time.Duration(b.UptimeS)*time.Second)
	if b.Simulated {
		seen += ", simulated: no hardware is below it"
	}
	if x.Config != nil && x.Config.Gateway.ID != b.ID && !b.Simulated {
		return one(warn(name, fmt.Sprintf("%s, but the configuration is of %s", seen, x.Config.Gateway.ID), "name the configuration that it runs with by --config"))
	}
	return one(good(name, "%s", seen))
}

// devices are what the running gateway says of each device.
func devices(_ context.Context, x *examination) (found []Finding) {
	if x.Building == nil {
		return nil
	}
	for _, d := range x.Building.Devices {
		found = append(found, d.finding())
	}
	return found
}

func (d Device) finding() Finding {
	name := strings.ToLower(d.Space) + " " + d.Type
	if !d.Enabled {
		return warn(name, "not enabled", "set enabled: true once it is wired")
	}
	var seen, reasons []string
	for _, r := range d.Readings {
		if notFitted(r) {
			seen = append(seen, r.Device+" not fitted")
		} else if r.Status == device.Offline {
			reasons = append(reasons, strings.TrimSuffix(r.Device+" offline: "+r.Reason, ": "))
		} else if r.Value != "" {
			seen = append(seen, r.Device+" "+r.Value)
		}
	}
	if len(reasons) > 0 {
		return fail(name, strings.Join(reasons, "; "), fix(d.Type))
	}
	if len(seen) == 0 {
		return good(name, "online")
	}
	return good(name, "online, %s", strings.Join(seen, ", "))
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
	case drivers.TypeDisplay:
		return "open /display/ and the meeting space's id in its browser"
	}
	return "check the wiring, and that the configuration names the line it is on"
}
