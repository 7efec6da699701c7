package doctor

import (
	"context"
	"slices"
	"strings"
)

// shared are the places of the board that more than one device names, or one
// device twice, though only one can be there: the other is offline. An I2C bus has
// room for many.
func shared(_ context.Context, x *examination) (found []Finding) {
	type place struct{ kind, name string }
	users := map[place][]string{}
	var order []place
	for _, n := range x.needs {
		p := place{n.kind, n.name}
		if n.kind == kindI2C {
			continue
		}
		if users[p] = append(users[p], n.device); len(users[p]) == 2 {
			order = append(order, p)
		}
	}
	for _, p := range order {
		who := slices.Compact(slices.Sorted(slices.Values(users[p])))
		seen := strings.Join(who, " and ") + " want it, and only one can have it"
		if len(who) == 1 {
			seen = who[0] + " names it more than once"
		}
		found = append(found, fail(p.kind+" "+p.name+" twice", seen, "write the one that each is wired to into "+x.ConfigFile))
	}
	return found
}
