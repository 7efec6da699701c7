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

// pulls are the subjects by which a backend reads and acknowledges what is in the stream UP.
const pulls = `"$JS.API.INFO", "$JS.API.STREAM.*.UP", "$JS.API.CONSUMER.*.UP.>", "$JS.API.CONSUMER.MSG.NEXT.UP.>", "$JS.ACK.UP.>", ` +
	`"$JS.API.STREAM.*.KV_UP_SHARES", "$JS.API.DIRECT.GET.KV_UP_SHARES.>", "$KV.UP_SHARES.>"`

// accounts are the cells as NATS reads them, an account each. A dot in an id is // in a
// subject there. $MQTT.sub.> is how NATS hands a message over. The backend also pulls from the
// stream UP, which it makes, and shares that out with others in a bucket: cloud/engine/pull.
func (c *Logins) accounts() string {
	var text strings.Builder
	text.WriteString("# Written by roomgate cloud cell.\naccounts {\n")
	for n := range len(c.Backends) {
		fmt.Fprintf(&text, "  CELL_%d {\n    jetstream { max_file: %s, max_memory: 64M }\n    users: [\n", n+1, cmp.Or(c.Disk, DefaultDisk))
		for i, l := range c.of(n + 1) {
			writes, reads, ways := `"roomgate.v1.*.down.>", `+pulls, `"roomgate.v1.*.up", "roomgate.v1.*.up.>", "_INBOX.>"`, `"MQTT", "STANDARD"`
			if i > 0 {
				at := "roomgate.v1." + strings.ReplaceAll(l.User, ".", "//")
				writes, reads, ways = fmt.Sprintf("%q", at+".up.>"), fmt.Sprintf("%q, %q", at+".down.*", at+".up.presence"), `"MQTT"`
			}
			user := fmt.Sprintf("user: %q, password: %q", l.User, l.Bcrypt)
			if c.Certificates {
				user = fmt.Sprintf("user: %q", "CN="+l.User)
				ways = `"MQTT"` // where the certificate is asked for: elsewhere a user without a password may be anybody
			}
			fmt.Fprintf(&text, "      {%s, allowed_connection_types: [%s],\n"+
				"       permissions: {publish: {allow: [%s]}, subscribe: {allow: [%s, \"$MQTT.sub.>\"]}}}\n", user, ways, writes, reads)
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
