package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/setup"
	"roomgate/drivers"
)

// clash is a place of the board that more than one device names, or one device
// twice, though only one can be there: the other is offline. An I2C bus has room for
// many.
type clash struct {
	kind, name string
	devices    []string // in the order of the configuration; one that names it twice is there twice
}

func clashes(needs []need) (all []clash) {
	for _, n := range needs {
		i := slices.IndexFunc(all, func(c clash) bool { return c.kind == n.kind && c.name == n.name })
		switch {
		case n.kind == kindI2C:
		case i < 0:
			all = append(all, clash{n.kind, n.name, []string{n.device}})
		default:
			all[i].devices = append(all[i].devices, n.device)
		}
	}
	return slices.DeleteFunc(all, func(c clash) bool { return len(c.devices) < 2 })
}

func shared(_ context.Context, x *examination) (found []Finding) {
	for _, c := range clashes(x.needs) {
		who := slices.Compact(slices.Sorted(slices.Values(c.devices)))
		seen := strings.Join(who, " and ") + " want it, and only one can have it"
		if len(who) == 1 {
			seen = who[0] + " names it more than once"
		}
		found = append(found, fail(c.kind+" "+c.name+" twice", seen, "write the one that each is wired to into "+x.ConfigFile))
	}
	return found
}

// Impossible is a name in the options of a device that no board can serve, or hardly one.
type Impossible struct {
	Device string // its id
	Name   string // of the line, channel, port or camera
	Why    string // with what to write instead
}

// WithoutBoard are the names that cannot work on any board: those of two devices at
// once, and those that are no names of the kernel. Drivers are asked for at most limit.
func WithoutBoard(ctx context.Context, c *config.Config, limit time.Duration) (all []Impossible) {
	needs, _ := survey(ctx, c, limit)
	for _, n := range needs {
		if why := n.misnamed(); why != "" {
			all = append(all, Impossible{n.device, n.name, why})
		}
	}
	all = append(all, pagesOfNoSpace(c)...)
	for _, c := range clashes(needs) {
		for i, device := range c.devices[1:] {
			why := fmt.Sprintf("is the %s of %s too: want the one that this is wired to", c.kind, c.devices[0])
			if device == c.devices[i] {
				why = "is named twice by " + device + ": want the one that each wire is on"
			}
			all = append(all, Impossible{device, c.name, why})
		}
	}
	return all
}

// pagesOfNoSpace are the displays whose page no meeting space has: nobody ever opens it.
func pagesOfNoSpace(c *config.Config) (all []Impossible) {
	for _, s := range c.Spaces {
		for _, d := range s.Devices {
			page, _ := config.At(d.Options, "page")
			name, ok := page.(string)
			if d.Type == drivers.TypeDisplay && ok && !slices.ContainsFunc(c.Spaces, func(s config.Space) bool { return s.ID == name }) {
				all = append(all, Impossible{d.ID, name, "is the id of no meeting space: want " + s.ID + ", that of " + s.Name})
			}
		}
	}
	return all
}

// Doubtful are the names of lines that hardly a board has: they are advice.
func Doubtful(ctx context.Context, c *config.Config, limit time.Duration) (all []Impossible) {
	needs, _ := survey(ctx, c, limit)
	for _, n := range needs {
		if why := setup.Doubtful(n.name); why != "" && n.kind == kindLine {
			all = append(all, Impossible{n.device, n.name, why})
		}
	}
	return all
}

func (n need) misnamed() string {
	switch {
	case n.kind == kindLine:
		return setup.Misnamed(n.name)
	case n.kind == kindPWM:
		return setup.MisnamedChannel(n.name)
	}
	return ""
}
