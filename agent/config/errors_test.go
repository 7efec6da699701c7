package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"roomgate/agent/goldentest"
	"roomgate/drivers"
)

// TestErrors holds the words that people see, one mistake at a time.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"unknown key":     {"gatway: {id: g}\ngateway: {id: g}", `g.yaml:1:1: unknown key "gatway", nearest known key is "gateway"`},
		"unknown in part": {"gateway:\n  id: g\n  nmae: x", `g.yaml:3:3: unknown key "nmae" in gateway, nearest known key is "name"`},
		"other spelling":  {"gateway: {id: g}\ncloud:\n  passwordFile: x", `g.yaml:3:3: unknown key "passwordFile" in cloud, nearest known key is "password_file"`},
		"torn password":   {"gateway: {id: g}\ncloud: {url: \"mqtts://a.example\", username: u, password: abc,topsecretPW1}", `g.yaml:2:62: cloud has a key without a value, which is not shown here, as it may be a part of a password: write a value with a comma in quotes`},
		"without a value": {"gateway: {id: g}\nclock:\n  weather:\n", `g.yaml:3:3: unknown key "weather" in clock, want one of trust`},
		"far from all":    {"gateway: {id: g}\nclock: {weather: fine}", `g.yaml:2:9: unknown key "weather" in clock, want one of trust`},
		"in options":      {space + "          inensity: 3", `g.yaml:10:11: unknown key "inensity" in spaces[0].devices[0].options, nearest known key is "intensity"`},
		"inside options":  {space + "          limits: {lo: 3}", `g.yaml:10:20: unknown key "lo" in spaces[0].devices[0].options.limits, nearest known key is "low"`},
		"options checked": {space + "          intensity: 101", `g.yaml:10:22: spaces[0].devices[0].options.intensity is out of range: want a number from 0 to 100 %`},
		"twice":           {"gateway: {id: g}\ndata: /x\ndata: /y", `g.yaml:3:1: data is already in line 2`},
		"duration":        {"gateway: {id: g}\nstore: {flush: 5}", `g.yaml:2:16: store.flush is "5": want a duration like 500ms, 30s or 1h30m`},
		"number":          {"gateway: {id: g}\ncloud: {rate: .nan}", `g.yaml:2:15: cloud.rate is ".nan": want a number`},
		"inf":             {"gateway: {id: g}\ncloud: {rate: inf}", `g.yaml:2:15: cloud.rate is "inf": want a number`},
		"integer":         {"gateway: {id: g}\nstore: {events: 1.5}", `g.yaml:2:17: store.events is "1.5": want a whole number`},
		"unsigned":        {space + "          address: -1", `g.yaml:10:20: spaces[0].devices[0].options.address is "-1": want a whole number from 0 to 65535`},
		"bool":            {space + "          invert: maybe", `g.yaml:10:19: spaces[0].devices[0].options.invert is "maybe": want true or false`},
		"size":            {"gateway: {id: g}\nstore: {max_size: big}", `g.yaml:2:19: store.max_size is "big": want a size like 256 MiB`},
		"list wanted":     {"gateway: {id: g}\nspaces: {a: 1}", `g.yaml:2:9: spaces is a mapping: want a list: every space starts with "- " on a line of its own`},
		"value wanted":    {"gateway: {id: g}\ndata: [a]", `g.yaml:2:7: data is a list: want a single value`},
		"keys wanted":     {"gateway: {id: g}\nhttp: :80", `g.yaml:2:7: http is a single value: want keys with values`},
		"not a mapping":   {"- a", `g.yaml:1:1: the document is a list: want keys with values`},
		"not YAML":        {"a:\n\tb: 1", "g.yaml:2:1: not YAML: a tab is here: indent with spaces"},
		"fits no list":    {"spaces:\n  - id: a\n   name: b", "g.yaml:3:4: not YAML: " + noItem},
		"fits no key":     {"cloud:\n    url: a\n  rate: 1", "g.yaml:3:3: not YAML: this line fits no key above: begin it in the column of its neighbours (line 2 begins in column 5)"},
		"too far in":      {"cloud:\n  url: a\n   rate: 1", "g.yaml:3:8: not YAML: no key can stand here: begin it in the column of its neighbours, end the key above with a colon, and put a text with a colon in quotes (line 2 begins in column 3)"},
		"tab":             {"cloud:\n  url: a\n\trate: 1", "g.yaml:3:1: not YAML: a tab is here: indent with spaces"},
		"open list":       {"data: [a\nhttp: {}", "g.yaml:2:5: not YAML: a [ is not closed: want , or ] here"},
		"open keys":       {"http: {listen: a\ndata: b", "g.yaml:2:5: not YAML: a { is not closed: want , or } here"},
		"colon in keys":   {"cloud: {username: a, password: p@ss: word}", "g.yaml:1:36: not YAML: a text with a colon, a comma or a bracket in it is not in quotes, or a { is not closed: want , or } here"},
		"behind quotes":   {"cloud:\n  password: \"sec\"ret\"\n", "g.yaml:2:18: not YAML: a value in quotes ends before this: put all of it into one pair of quotes, and one that has \" in it into '...'"},
		"an escape":       {"cloud:\n  password: \"a\\q\"\n", `g.yaml:2:15: not YAML: a \ in "..." begins an escape: put the text in '...' instead`},
		"cut by a hash":   {"data: [a, red #8]\nhttp: {}", "g.yaml:1:15: not YAML: the bracket before this is not closed, and what follows # is a comment: close it, or put a text with # in quotes"},
		"cut in keys":     {"gateway: {id: g}\ncloud: {username: u,\n  password: hunter2 #8}\n", "g.yaml:3:21: not YAML: the bracket before this is not closed, and what follows # is a comment: close it, or put a text with # in quotes"},
		"Latin 1":         {"gateway:\n  id: g # B\xfcro", "g.yaml:2:12: is not UTF-8 here: save the file as UTF-8"},
		"UTF-16":          {"\xff\xfeg\x00a\x00", "g.yaml:1:1: is not UTF-8 here: save the file as UTF-8"},
		"two documents":   {"gateway: {id: g}\n---\ndata: x", "g.yaml:2:1: a second document starts here: a configuration is one document"},
		"broken second":   {"gateway: {id: g}\n---\n]", "g.yaml:3:1: not YAML: did not find expected node content while parsing a block node"},
		"alias":           {"gateway: {id: g, name: *hunter2}", `g.yaml:1:24: not YAML: a value starts with *: put a text that starts so in quotes`},
		"anchor":          {"gateway: {id: g}\ncloud: {password: &hunter2}", `g.yaml:2:19: cloud.password starts with *, & or !: put a text that starts so in quotes`},
		"tag":             {"gateway: {id: !env G}", `g.yaml:1:15: gateway.id starts with *, & or !: put a text that starts so in quotes`},
		"odd key":         {"gateway: {id: g}\n? [a]\n: 1", `g.yaml:2:3: unknown key "", want one of gateway, data, http, cloud, broker, clock, doors, store, update, webhooks, calendars, push, messages, smtp, auth, users, spaces`},
		"empty":           {"", `g.yaml: gateway.id is missing: want 1 to 64 of a-z A-Z 0-9 . _ -`},
		"place of a gap":  {"gateway: {name: x}", `g.yaml:1:10: gateway.id is missing: want 1 to 64 of a-z A-Z 0-9 . _ -`},
		"topic in id":     {"gateway: {id: a/+}", `g.yaml:1:15: gateway.id is "a/+": want 1 to 64 of a-z A-Z 0-9 . _ -`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("g.yaml", []byte(c.in), lamps())
			if diff := cmp.Diff(c.want, firstMessage(err)); diff != "" || strings.Contains(firstMessage(err), "hunter2") {
				t.Error(diff)
			}
		})
	}
}

// TestValues holds the checks of values, again one at a time.
func TestValues(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"data: ''", "data is empty: want a folder"},
		{"http: {origins: [https://book.example.com/]}", `http.origins[0] is "https://book.example.com/": want one as https://book.example.com, without a path`},
		{"http: {names: ['rooms.example.com:8080']}", `http.names[0] is "rooms.example.com:8080": want the name alone, as rooms.example.com`},
		{"http: {listen: localhost}", `http.listen is "localhost": want HOST:PORT, as 127.0.0.1:1883 or :8080`},
		{"http: {tls: {certificate: a.pem}}", "http.tls.key is missing: http.tls.certificate needs it"},
		{"http: {tls: {key: a.pem}}", "http.tls.certificate is missing: http.tls.key needs it"},
		{"http: {tls: {authority: true, certificate: a.pem, key: b.pem}}", "http.tls.authority is true and there is http.tls.certificate: keep one of the two"},
		{"http: {tls: {listen: ':8443'}}", "http.tls.listen needs a certificate: set http.tls.certificate with its key, or http.tls.authority: true"},
		{"http: {tls: {authority: true, listen: ':8080'}}", "http.tls.listen is http.listen too: want another port, as :8443"},
		{"http: {tls: {authority: true, listen: '8443'}}", `http.tls.listen is "8443": want HOST:PORT, as 127.0.0.1:1883 or :8080`},
		{"http: {tls: {authority: true, redirect: true}}", "http.tls.redirect is true and there is only one address: set http.tls.listen, as :8443"},
		{"broker: {tls: {authority: true, key: a.pem}}", "broker.tls.authority is true and there is broker.tls.certificate: keep one of the two"},
		{"cloud: {tls_min: 1.1}", `cloud.tls_min is "1.1": did you mean "1.2"?`},
		{"cloud: {url: 'http://x'}", "cloud.url is not an address of a broker: want mqtt://HOST[:PORT] or mqtts://HOST[:PORT], did you mean mqtts://x:8883?"},
		{"cloud: {url: 'mqtt://x:99999'}", "cloud.url is not an address of a broker: want mqtt://HOST[:PORT] or mqtts://HOST[:PORT]"},
		{"cloud: {url: 'mqtt://u:hunter2@x'}", "cloud.url holds credentials: write them as cloud.username and cloud.password_file"},
		{"cloud: {url: 'mqtt://x', ca_file: a}", "cloud.url is mqtt:// and there are certificates: want mqtts://"},
		{"cloud: {url: [mqtts://a, MQTT://b], username: u}", "cloud.url has brokers of mqtt:// and of mqtts://: write mqtts:// for all of them"},
		{"cloud: {acks: brocker}", `cloud.acks is "brocker": did you mean "broker"?`},
		{"cloud: {acks: never}", `cloud.acks is "never": want one of backend, broker`},
		{"cloud: {command_ttl: 10ms}", "cloud.command_ttl is out of range: 10ms is not from 1s to 24h0m0s"},
		{"cloud: {username: u, password: hunter2, password_file: f}", "cloud.password_file and cloud.password are both there: keep one"},
		{"cloud: {password: hunter2}", "cloud.username is empty, and there is a password: name the user"},
		{"cloud: {password: [hunter2]}", "cloud.password is a list: want a single value"},
		{"broker: {listen: ':1883'}", `broker.listen is ":1883" and broker.users is empty: name users, or listen on 127.0.0.1`},
		{"broker: {listen: '127.0.0.1:1883', users: [{name: o3}]}", "broker.users[0].password or password_file: want exactly one of the two"},
		{"broker: {users: [{name: a, password: x, publish: ['a/#/b']}]}", `broker.users[0].publish[0] is "a/#/b": want a topic, + for any one level, # at the end for all below`},
		{"broker: {users: [{name: a, password: x, subscribe: ['$SYS/#']}]}", `broker.users[0].subscribe[0] is "$SYS/#": want a topic, + for any one level, # at the end for all below`},
		{"broker: {tls: {certificate: a.pem}}", "broker.tls.key is missing: broker.tls.certificate needs it"},
		{"broker: {users: [{name: a, password: hunter2}, {name: a, password: b}]}",
			`broker.users[1].name is "a": want 1 to 64 of a-z A-Z 0-9 . _ -, each name once`},
		{"clock: {trust: maybe}", `clock.trust is "maybe": want one of auto, always, never`},
		{"store: {max_size: 1 KiB}", "store.max_size is out of range: 1 KiB is not from 8 MiB to 1 GiB"},
		{"smtp: {url: 'http://x'}", "smtp.url is not an address of a mail relay: want smtp://HOST[:PORT] or smtps://HOST[:PORT]"},
		{"smtp: {url: 'smtp://x:0', from: a@b}", "smtp.url is not an address of a mail relay: want smtp://HOST[:PORT] or smtps://HOST[:PORT]"},
		{"smtp: {url: 'smtp://u:hunter2@x', from: a@b}", "smtp.url holds credentials: write them as smtp.username and smtp.password_file"},
		{"smtp: {url: 'smtp://x'}", `smtp.from is missing: want a sender like Rooms <rooms@example.com>`},
		{"smtp: {url: 'smtp://x', from: rooms}", `smtp.from is "rooms": want a sender like Rooms <rooms@example.com>`},
		{"smtp: {url: 'smtp://127.0.0.1', from: a@b, ca_file: c}", "smtp.ca_file is of no use with a relay on this machine: leave it out, or use smtps://"},
		{"smtp: {password: hunter2}", "smtp.username is empty, and there is a password: name the user"},
		{"smtp: {username: u, password: hunter2, password_file: f}", "smtp.password_file and smtp.password are both there: keep one"},
		{"auth: {jwt: {lifetime: 1s}}", "auth.jwt.lifetime is out of range: 1s is not from 1m0s to 744h0m0s"},
		{"auth: {jwt: {rotation: 1m}}", "auth.jwt.rotation is out of range: 1m0s is not from 1h0m0s to 8784h0m0s"},
		{"users: [{email: a@b.c}]", `users[0].id is missing: want 1 to 64 of a-z A-Z 0-9 . _ -, each id once`},
		{"users: [{id: a, email: a@b.c}, {id: a, email: b@b.c}]", `users[1].id is "a": want 1 to 64 of a-z A-Z 0-9 . _ -, each id once`},
		{"users: [{id: a, email: ada}]", `users[0].email is "ada": want an address like name@example.com`},
		{"users: [{id: a, email: a@b.c}, {id: b, email: ' A@B.C '}]", "users[1].email is that of another user"},
		{"users: [{id: a, email: a@b.c, role: boss}]", `users[0].role is "boss": want one of admin, operator, member, display`},
		{"users: [{id: a, email: a@b.c, organization_id: us}]", `users[0].organization_id is "us": want a UUID in small letters`},
		{"spaces: [{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A, organization_id: us}]",
			`spaces[0].organization_id is "us": want a UUID in small letters`},
		{"spaces: [{name: A}]", `spaces[0].id is missing: want a UUID in small letters, cat /proc/sys/kernel/random/uuid prints a new one`},
		{"spaces: [{id: x, name: A}]", `spaces[0].id is "x": want a UUID in small letters, cat /proc/sys/kernel/random/uuid prints a new one`},
		{"spaces: [{id: 7C0B2A54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A}]", `spaces[0].id is "7C0B2A54-3f0e-4d8e-9a51-0d2f6b1e4a01": want a UUID in small letters`},
		{"spaces: [{di: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A}]", `unknown key "di" in spaces[0], nearest known key is "id"`},
		{"spaces: [{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01}]", `spaces[0].name is missing: want the name that people use`},
		{"spaces: [{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A, timezone: Mars/Base}]",
			`spaces[0].timezone is "Mars/Base": want an IANA name like Europe/Berlin`},
		{"spaces: [{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A, customer_id: me}]",
			`spaces[0].customer_id is "me": want a UUID in small letters`},
		{"spaces: [{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A, booking_app_url: me}]",
			"spaces[0].booking_app_url is not a URL: want one like https://example.com/"},
		{"spaces: [{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A}, {id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: B}]",
			"spaces[1].id is that of another space: want one of its own, cat /proc/sys/kernel/random/uuid prints a new one"},
		{"spaces: [{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A}, {id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a02, name: a}]",
			`spaces[1].name is "a", as spaces[0] is called: want another name, which people tell it by`},
	} {
		_, err := Parse("g.yaml", []byte("gateway: {id: g}\n"+c.in), lamps())
		var list *Errors
		if !errors.As(err, &list) || len(list.Problems) != 1 {
			t.Fatalf("%s:\n got %v\nwant %s", c.in, err, c.want)
		}
		goldentest.Values(t, c.in, goldentest.Pairs{"Problems[0].Message": {list.Problems[0].Message, c.want},
			"Problems[0].Line": {list.Problems[0].Line, 2}, "hunter2": {strings.Contains(err.Error(), "hunter2"), false}})
	}
}

// TestDeviceValues holds the checks of a device.
func TestDeviceValues(t *testing.T) {
	const head = "gateway: {id: g}\nspaces: [{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A, devices: [\n"
	for _, c := range []struct{ in, want string }{
		{"{id: a, type: ligth, driver: lamp}", `g.yaml:3:15: spaces[0].devices[0].type is "ligth": did you mean "light"?`},
		{"{id: a, type: light, driver: lmap}", `g.yaml:3:30: spaces[0].devices[0].driver is "lmap": did you mean "lamp"?`},
		{"{id: a, driver: lamp}", `g.yaml:3:1: spaces[0].devices[0].type is missing: want one of ` + strings.Join(drivers.Types(), ", ")},
		{"{type: light, driver: lamp}", `g.yaml:3:1: spaces[0].devices[0].id is missing: want 1 to 64 of a-z A-Z 0-9 . _ -`},
		{"{id: a, type: light}", `g.yaml:3:1: spaces[0].devices[0].driver is missing: want one of lamp`},
		{"{id: a, type: light, driver: lamp}, {id: a, type: fan, driver: lamp-fan}", `g.yaml:3:42: spaces[0].devices[1].id is "a", which another device has: want an id of its own, or another name of its room where it is made of that`},
		{"{id: a, type: light, driver: lamp}, {id: b, type: light, driver: lamp}",
			`g.yaml:3:51: spaces[0].devices[1].type is "light" like another device of the space: a space has one of each type`},
		{"{id: a, type: light, driver: lamp, poll: 1ms}", `g.yaml:3:42: spaces[0].devices[0].poll is out of range: 1ms is not from 50ms to 1h0m0s`},
		{"{id: a, type: light, driver: lamp, alert: {low: 30}}", `g.yaml:3:43: spaces[0].devices[0].alert.high is out of range: 28 is not from 30 to 85`},
		{"{id: a, type: light, driver: lamp, alert: {hysteresis: 7}}", `g.yaml:3:56: spaces[0].devices[0].alert.hysteresis is out of range: 7 is not from 0 to 6`},
		{"{id: a, type: light, driver: lamp, options: 7}", `g.yaml:3:45: spaces[0].devices[0].options is a single value: want keys with values`},
		{"{id: a, type: fan, driver: lamp}", `g.yaml:3:28: spaces[0].devices[0].driver is "lamp", which moves a light, not a fan`},
		{"{id: a, type: light, driver: lamp}, {id: a, type: light, driver: lamp}", `g.yaml:3:42: spaces[0].devices[1].id is "a", which another device has: want an id of its own, or another name of its room where it is made of that`},
		{"{id: a, type: light, driver: lamp, intensity: 3}", `g.yaml:3:36: unknown key "intensity" in spaces[0].devices[0]: want intensity below "options:", two blanks further in`},
		{"{id: a, type: light, driver: lamp, inensity: 3}", `g.yaml:3:36: unknown key "inensity" in spaces[0].devices[0]: want intensity below "options:", two blanks further in`},
		{"{id: a, type: light, driver: lamp, nonsense: 3}", `g.yaml:3:36: unknown key "nonsense" in spaces[0].devices[0], want one of id, type, driver, poll, timeout, alert, enabled, options`},
		{"[]", `g.yaml:3:1: spaces[0].devices[0] is a list: want keys with values`},
	} {
		_, err := Parse("g.yaml", []byte(head+c.in+"]}]\n"), lamps())
		if diff := cmp.Diff(c.want, firstMessage(err)); diff != "" {
			t.Errorf("%s: %s", c.in, diff)
		}
	}
}

// noItem is said where a line below a list begins in a column of its own.
const noItem = `this line is no item of the list above and no key of its last item: every device, space and user starts with "- " on a line of its own, and its other keys begin in the column behind that`

// TestIndentation holds what people see who indent devices wrongly: one problem for
// one mistake, with what to write.
func TestIndentation(t *testing.T) {
	const head = "gateway: {id: g}\nspaces:\n  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01\n    name: A\n"
	for _, c := range []struct{ in, want string }{
		{"    devices:\n      id: a\n      type: light\n", `g.yaml:6:7: spaces[0].devices is a mapping: want a list: every device starts with "- " on a line of its own`},
		{"    devices:\n      - id: a\n        type: light\n       driver: lamp\n", "g.yaml:8:8: not YAML: " + noItem},
		{"    devices:\n      - id: a\n      type: light\n", "g.yaml:7:7: not YAML: " + noItem},
		{"    devices:\n      - id: a\n        type: light\n        driver: lamp\n        id: b\n        type: fan\n        driver: lamp-fan\n",
			`g.yaml:9:9: spaces[0].devices[0].id is already in line 6: every device starts with "- " on a line of its own`},
		{"    devices:\n      -id: a\n       type: light\n", `g.yaml:6:1: not YAML: a blank is missing: want one behind the dash and one behind the colon, as "- name: Atlas"`},
		{"    city:Berlin\n    floor: 3\n", `g.yaml:5:1: not YAML: a blank is missing: want one behind the dash and one behind the colon, as "- name: Atlas"`},
		{"    city\n    floor: 3\n", `g.yaml:5:5: not YAML: this is no key: want a colon and a blank behind its name, as name: Atlas`},
		{"    city: \"Berlin\n    floor: 3\n", "g.yaml:5:11: not YAML: a quote is not closed"},
		{"    devices:\n      - id: a\n        type: light\n        driver: lamp\n        options:\n        intensity: 3\n",
			`g.yaml:10:9: unknown key "intensity" in spaces[0].devices[0]: want intensity below "options:", two blanks further in`},
	} {
		_, err := Parse("g.yaml", []byte(head+c.in), lamps())
		if diff := cmp.Diff(c.want, firstMessage(err)); diff != "" {
			t.Errorf("%s: %s", c.in, diff)
		}
		var list *Errors
		if errors.As(err, &list) && len(list.Problems) > 1 {
			t.Errorf("%s: counted %d times: %v", c.in, len(list.Problems), err)
		}
	}
}

// TestDashOutOfLine: an item whose dash is in a wrong column is told the column of the dash of its
// sibling, and is right once it is there.
func TestDashOutOfLine(t *testing.T) {
	const room = "gateway: {id: g}\nspaces:\n  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01\n    name: A\n    devices:\n" +
		"      - id: a\n        type: light\n        driver: lamp\n        options:\n          intensity: 3\n"
	for _, column := range []int{4, 5, 6, 8, 9, 10, 11, 13} {
		text := room
		for _, line := range []string{"- id: b", "  type: fan", "  driver: fan"} {
			text += strings.Repeat(" ", column-1) + line + "\n"
		}
		_, err := Parse("g.yaml", []byte(text), lamps())
		if message := firstMessage(err); !strings.HasPrefix(message, "g.yaml:11:") || !strings.HasSuffix(message, "(the dash of line 6 is in column 7)") {
			t.Errorf("a device in column %d: %s", column, message)
		}
	}
	for _, column := range []int{2, 4, 5} {
		text := room + strings.Repeat(" ", column-1) + "- id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a02\n" + strings.Repeat(" ", column+1) + "name: B\n"
		_, err := Parse("g.yaml", []byte(text), lamps())
		if message := firstMessage(err); !strings.HasSuffix(message, "(the dash of line 3 is in column 3)") {
			t.Errorf("a space in column %d: %s", column, message)
		}
	}
}
