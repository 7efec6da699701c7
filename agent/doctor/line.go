package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"roomgate/agent/machineuser"
	"roomgate/agent/setup"
	"roomgate/agent/spelling"
)

// consumer is what our gateway calls itself where it holds a line.
const consumer = "roomgate"

// lines examines the GPIO chips and the lines that the configuration names.
func lines(_ context.Context, x *examination) []Finding {
	var chips []Chip
	if x.Chips != nil {
		chips = x.Chips()
	}
	wanted := x.wanted(kindLine)
	found := []Finding{x.chips(chips, len(wanted))}
	if len(chips) == 0 { // said once
		return found
	}
	for _, n := range wanted {
		found = append(found, x.line(chips, n))
	}
	return found
}

// wanted are the needs of a kind, each name once, with those who need it.
func (x *examination) wanted(kind string) (all []need) {
next:
	for _, n := range x.needs {
		if n.kind != kind {
			continue
		}
		for i := range all {
			if all[i].name == n.name {
				all[i].device += " and " + n.device
				continue next
			}
		}
		all = append(all, n)
	}
	return all
}

func (x *examination) chips(chips []Chip, wanted int) Finding {
	const name = "gpio chips"
	if len(chips) == 0 && wanted > 0 {
		return fail(name, "no gpio chips: this is not a board, and the configuration names "+count(wanted, "line")+" of one",
			"run on the board, or enable its GPIO in the device tree")
	}
	if len(chips) == 0 {
		return good(name, "no gpio chips: this is not a board, and no line is named")
	}
	var seen []string
	var closed error
	for _, c := range chips {
		if c.Err != nil {
			closed = errors.Join(closed, c.Err)
			continue
		}
		seen = append(seen, fmt.Sprintf("%s %s (%s)", filepath.Base(c.Path), c.Label, count(len(c.Lines), "line")))
	}
	if closed == nil {
		return good(name, "%s", strings.Join(seen, ", "))
	}
	f := warn(name, strings.Join(append(seen, closed.Error()), ", "), "see ls -l /dev/gpiochip*")
	if errors.Is(closed, fs.ErrPermission) {
		f.Fix = "run this command as root or as a member of the group that owns /dev/gpiochip*"
	}
	if wanted > 0 && len(seen) == 0 {
		f.State = Fail
	}
	return f
}

// line looks for a line as the drivers do: by name on every chip, or by chip
// and offset.
func (x *examination) line(chips []Chip, n need) Finding {
	name := "line " + n.name
	var on []Chip
	var at Line
	for _, c := range chips {
		for offset, l := range c.Lines {
			if l.Name == n.name || c.has(n.name, offset) {
				on, at = append(on, c), l
			}
		}
	}
	switch {
	case len(on) == 0:
		todo := "write a name that this board has, which sudo roomgate setup shows"
		if near := nearLine(chips, n.name); near != "" {
			todo = "did you mean " + near + "? Write it, or another name that this board has, which sudo roomgate setup shows"
		}
		if why := setup.Misnamed(n.name); why != "" {
			todo = "correct it: it " + why
		}
		return fail(name, "no chip has it, "+n.device+" needs it", todo)
	case len(on) > 1:
		return fail(name, fmt.Sprintf("both %s and %s have one, %s needs it", on[0].Path, on[1].Path, n.device),
			"write the chip's label before the offset, as in pinctrl-rp1/17")
	}
	where := fmt.Sprintf("on %s for %s", on[0].Label, n.device)
	if info, err := os.Stat(on[0].Path); err == nil && !x.user.May(info, machineuser.Read|machineuser.Write) {
		return fail(name, where+", which "+x.user.Name+" may not open", x.join(info))
	}
	return x.held(name, where, at)
}

// nearLine is the line of the board whose name is nearly that, with the same number; empty:
// there is none.
func nearLine(chips []Chip, name string) string {
	number := func(name string) string {
		return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ _-./")
	}
	var names []string
	for _, c := range chips {
		for _, l := range c.Lines {
			if number(l.Name) == number(name) {
				names = append(names, l.Name)
			}
		}
	}
	return spelling.Nearest(name, names)
}

// has says whether "label/17" or "gpiochip0/17" is the line at an offset.
func (c Chip) has(line string, offset int) bool {
	chip, number, ok := strings.Cut(line, "/")
	return ok && number == strconv.Itoa(offset) && (chip == c.Label || chip == filepath.Base(c.Path))
}

// held judges who has the line.
func (x *examination) held(name, where string, l Line) Finding {
	ours := x.Building != nil && !x.simulated()
	switch {
	case l.Used && l.User == consumer && ours:
		return good(name, "%s, held by the gateway", where)
	case l.Used && l.User == consumer:
		return warn(name, where+", held by a gateway that does not answer here", "name its directory with --data, or stop it")
	case l.Used:
		return fail(name, fmt.Sprintf("%s, held by %q", where, l.User), "stop that program, or remove the overlay that gives the line to the kernel")
	case ours:
		return warn(name, where+", not held by the running gateway", x.again()+", and see why its device is offline")
	}
	return good(name, "%s, free", where)
}

// simulated says whether the running gateway has no hardware below it.
func (x *examination) simulated() bool { return x.Building != nil && x.Building.Simulated }
