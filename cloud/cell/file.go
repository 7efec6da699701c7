package cell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Files are what the brokers read, by name: accounts.conf for NATS, and for the Mosquitto
// of each cell its access list and its passwords.
func (c *Logins) Files() map[string]string {
	files := map[string]string{"accounts.conf": c.accounts()}
	for n := 1; n <= len(c.Backends); n++ {
		files[fmt.Sprintf("mosquitto-%d.acl", n)] = mosquittoACL(n)
		files[fmt.Sprintf("mosquitto-%d.passwords", n)] = c.passwords(n)
	}
	return files
}

// of are the logins of a cell, the backend's first and then by name.
func (c *Logins) of(cell int) []Login {
	all := []Login{c.Backends[cell-1]}
	for _, g := range c.Gateways {
		if g.Cell == cell {
			all = append(all, g)
		}
	}
	slices.SortFunc(all[1:], func(x, y Login) int { return strings.Compare(x.User, y.User) })
	return all
}

// accounts are the cells as NATS reads them, an account each. A dot in an id is // in a
// subject there. $MQTT.sub.> is how NATS hands a message over.
func (c *Logins) accounts() string {
	var text strings.Builder
	text.WriteString("# Written by roomgate cloud cell.\naccounts {\n")
	for n := range len(c.Backends) {
		fmt.Fprintf(&text, "  CELL_%d {\n    jetstream { max_file: %s, max_memory: 64M }\n    users: [\n", n+1, cmp.Or(c.Disk, DefaultDisk))
		for i, l := range c.of(n + 1) {
			writes, reads := `"roomgate.v1.*.down.>"`, `"roomgate.v1.*.up", "roomgate.v1.*.up.>"`
			if i > 0 {
				at := "roomgate.v1." + strings.ReplaceAll(l.User, ".", "//")
				writes, reads = fmt.Sprintf("%q", at+".up.>"), fmt.Sprintf("%q, %q", at+".down.*", at+".up.presence")
			}
			fmt.Fprintf(&text, "      {user: %q, password: %q, allowed_connection_types: [\"MQTT\"],\n"+
				"       permissions: {publish: {allow: [%s]}, subscribe: {allow: [%s, \"$MQTT.sub.>\"]}}}\n", l.User, l.Bcrypt, writes, reads)
		}
		text.WriteString("    ]\n  }\n")
	}
	text.WriteString("}\n")
	return text.String()
}

// mosquittoACL is the same for each gateway: its user name is its id.
func mosquittoACL(cell int) string {
	return "# Written by roomgate cloud cell.\npattern write roomgate/v1/%u/up/#\npattern read roomgate/v1/%u/down/+\npattern read roomgate/v1/%u/up/presence\n\nuser " +
		BackendUser(cell) + "\ntopic write roomgate/v1/+/down/#\ntopic read roomgate/v1/+/up/#\n"
}

func (c *Logins) passwords(cell int) string {
	var text strings.Builder
	for _, l := range c.of(cell) {
		fmt.Fprintf(&text, "%s:%s\n", l.User, l.SHA512)
	}
	return text.String()
}
