package setup

import (
	"os"
	"slices"
	"strings"
	"testing"

	"roomgate/agent/roombroker"
)

const atBroker = `gateway: {id: berlin-3}
broker:
  listen: 0.0.0.0:1883
  users:
    - {name: zigbee2mqtt, password: canary-1}
    - {name: atlas-light, password: canary-2}
spaces:
  - name: Atlas
    devices:
      - {driver: lock-zigbee2mqtt, options: {topic: zigbee2mqtt/atlas/door}}
      - {driver: light-tasmota, options: {topic: atlas_lamp}}
`

// TestUsersOfTheRoomBrokerGetTheirTopics: setup writes what each one's devices
// need, into a new file and into one that has none yet.
func TestUsersOfTheRoomBrokerGetTheirTopics(t *testing.T) {
	o := place(t)
	p, err := Prepare("answers.yaml", []byte(atBroker), o)
	if err != nil {
		t.Fatal(err)
	}
	a := roombroker.Of(p.Config)
	if len(a.Advice()) > 0 || !a.May("atlas-light", "stat/atlas_lamp/RESULT", true) || a.May("atlas-light", "zigbee2mqtt/atlas/door", true) {
		t.Errorf("to be done is %q, in\n%s", a.Advice(), p.After)
	}
	before := strings.NewReplacer("    - {name: zigbee2mqtt, password: canary-1}", "    - name: zigbee2mqtt # the stick\n      password: x",
		"    - {name: atlas-light, password: canary-2}", "    - name: atlas-light\n      password: x\n      publish: [mine]",
		"- name: Atlas\n", "- id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01\n    name: Atlas\n", "{driver: lock-", "{id: door, type: lock, driver: lock-",
		"{driver: light-", "{id: lamp, type: light, driver: light-").Replace(atBroker)
	if err := os.WriteFile(o.File, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err = Prepare("answers.yaml", []byte("gateway: {name: House 3}\n"), o)
	if err != nil {
		t.Fatal(err)
	}
	u := p.Config.Broker.Users
	if !slices.Contains(u[0].Publish, "zigbee2mqtt/#") || !slices.Equal(u[1].Publish, []string{"mine"}) || u[1].Subscribe == nil ||
		!strings.Contains(string(p.After), "# the stick") {
		t.Errorf("it became\n%s", p.After)
	}
}

// TestUncertainTopicsAreNotWritten: what several users get is for people to part.
func TestUncertainTopicsAreNotWritten(t *testing.T) {
	p, err := Prepare("answers.yaml", []byte(strings.NewReplacer("name: zigbee2mqtt", "name: one", "name: atlas-light", "name: two").Replace(atBroker)), place(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range p.Config.Broker.Users {
		if u.Publish != nil || u.Subscribe != nil {
			t.Errorf("%s got %q", u.Name, u.Publish)
		}
	}
}
