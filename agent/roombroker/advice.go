package roombroker

import (
	"fmt"
	"strings"
)

// Advice is something to write into the configuration, for who checks it.
type Advice struct {
	Key  string // as "broker.users"
	Seen string
	Fix  string
}

// Advice says which lists are missing and what to write, which devices no user
// speaks for, and which doors several speak for.
func (a *Access) Advice() (all []Advice) {
	for _, user := range a.guessed {
		seen, fix := "has no list of topics: the gateway guesses its permissions from its name and the devices", "write into it "
		if a.unsure[user] {
			seen += ", and other users get the same devices"
			fix = "take what is not this user's out of it, and write into it "
		}
		all = append(all, Advice{"broker.users", "user " + user + " " + seen, fix + a.users[user].String()})
	}
	for _, d := range a.unheard {
		all = append(all, Advice{"broker.users", "no user may speak for device " + d.device,
			"write into the user that does " + Topics{d.Publish, d.Subscribe}.String()})
	}
	for _, d := range a.shared {
		all = append(all, Advice{"broker.users", "several users may speak for the door " + d.device,
			"leave " + strings.Join(d.Says, ", ") + " in the list of one"})
	}
	return all
}

// String is the lists as the configuration has them.
func (t Topics) String() string {
	return fmt.Sprintf("publish: %s, subscribe: %s", list(t.Publish), list(t.Subscribe))
}

func list(all []string) string {
	quoted := make([]string, len(all))
	for i, f := range all {
		quoted[i] = `"` + f + `"`
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
