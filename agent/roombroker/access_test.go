package roombroker_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"roomgate/agent/config"
	"roomgate/agent/roombroker"
	"roomgate/configs"
	"roomgate/drivers/all"
)

func parse(t *testing.T, broker, devices string) *config.Config {
	t.Helper()
	text := "gateway: {id: g}\nbroker: " + broker + "\nspaces:\n  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01\n    name: Aurora\n    devices:\n"
	for line := range strings.Lines(devices) {
		text += "      - " + strings.TrimSpace(line) + "\n"
	}
	c, err := config.Parse("test.yaml", []byte(text), all.All())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const (
	zigbeeDoor = "{id: door, type: lock, driver: lock-zigbee2mqtt, options: {topic: zigbee2mqtt/hall/door}}\n"
	espDoor    = "{id: door, type: lock, driver: lock-esphome, options: {topic: hall-door, name: bolt}}\n"
	lamp       = "{id: lamp, type: light, driver: light-tasmota, options: {topic: tasmota_A1}}\n"
	fan        = "{id: fan, type: fan, driver: fan-shelly, options: {topic: shellyplus1-08b6}}\n"
	hub        = "{id: hub, type: o3-sensor, driver: o3-mqtt, options: {address: room:1883, prefix: building/o3-aurora}}\n"
)

// TestNobodyReachesADoor: whatever a topic calls the door, its bridge or its node,
// only the gateway publishes there, also if a list says otherwise.
func TestNobodyReachesADoor(t *testing.T) {
	broker := `{listen: "127.0.0.1:0", users: [{name: bridge, password: x, publish: ["#"], subscribe: ["#"]}]}`
	for _, c := range []struct {
		device string
		topics []string
		says   []string
	}{
		{zigbeeDoor, []string{
			"zigbee2mqtt/hall/door/set", "zigbee2mqtt/hall/door/set/state", "zigbee2mqtt/hall/door/left/set", // its friendly name
			"zigbee2mqtt/0x00158d0001a2b3c4/set", "zigbee2mqtt/0x00158d0001a2b3c4/1/set/state", "zigbee2mqtt/0X00158D0001A2B3C4/set", // its address
			"zigbee2mqtt/all/set", "zigbee2mqtt/7/set", "zigbee2mqtt/group/all/set", "zigbee2mqtt/floor/1/everything/set", // a group
			"zigbee2mqtt/bridge/request/device/rename", "zigbee2mqtt/bridge/request/group/members/add", "zigbee2mqtt/bridge/request/extension/save",
			"zigbee2mqtt/bridge/request/restart", "zigbee2mqtt/bridge/config/rename", "zigbee2mqtt/bridge/group/all/add", // its bridge
			"Zigbee2MQTT/Hall/Door/Set", "zigbee2mqtt//hall//door//set", "/zigbee2mqtt/hall/door/set", "zigbee2mqtt/hall/door/set/", "zigbee2mqtt/bridge//request/restart",
		}, []string{
			"zigbee2mqtt/hall/door", "zigbee2mqtt/hall/door/availability", "zigbee2mqtt/bridge/state", "zigbee2mqtt/bridge/response/device/rename",
			"zigbee2mqtt/lamp", "zigbee2mqtt/hall/door/get", "other/hall/door/set",
		}},
		{espDoor, []string{
			"hall-door/lock/bolt/command", "hall-door/lock/bolt/command/", "hall-door/switch/relay/command", "hall-door/button/open/command",
			"Hall-Door/lock/bolt/COMMAND", "hall-door//lock/bolt/command",
		}, []string{"hall-door/lock/bolt/state", "hall-door/status", "esphome/discover/hall-door", "hall-lamp/light/main/command"}},
		{lamp, []string{ // the gateway's own
			"roomgate/room/g/status", "roomgate/room/g/door/state", "roomgate/room/g/door/availability", "homeassistant/lock/roomgate_g/door/config", "any/sensor/roomgate_g/x",
		}, []string{"cmnd/tasmota_A1/POWER", "roomgate/room/g/lamp/set"}},
	} {
		for name, a := range map[string]*roombroker.Access{
			"a user who may do all": roombroker.Of(parse(t, broker, c.device)),
			"nobody in particular":  roombroker.Of(parse(t, `{listen: "127.0.0.1:0"}`, c.device)),
		} {
			user := map[bool]string{true: "bridge"}[strings.HasPrefix(name, "a user")]
			for _, topic := range c.topics {
				if a.May(user, topic, true) {
					t.Errorf("%s may publish to %s", name, topic)
				}
				if !a.May(user, topic, false) {
					t.Errorf("%s may not read %s", name, topic)
				}
			}
			for _, topic := range c.says {
				if !a.May(user, topic, true) {
					t.Errorf("%s may not publish to %s", name, topic)
				}
			}
		}
	}
}

// TestDenyByDefault: a user has its own name and what is below, and what a list of
// its own says.
func TestDenyByDefault(t *testing.T) {
	a := roombroker.Of(parse(t, `{listen: "127.0.0.1:0", users: [
  {name: bridge, password: x, publish: ["zigbee2mqtt/#"], subscribe: ["zigbee2mqtt/#", "homeassistant/status"]},
  {name: lamp, password: x, publish: [], subscribe: ["cmnd/tasmota_A1/#"]}, {name: evil, password: x}, {name: evil2, password: x}]}`, zigbeeDoor+lamp))
	for _, q := range []struct {
		user, topic string
		write, want bool
	}{
		{"bridge", "zigbee2mqtt/hall/door", true, true}, {"bridge", "zigbee2mqtt/#", false, true}, {"bridge", "homeassistant/status", false, true},
		{"bridge", "homeassistant/status", true, false}, {"bridge", "bridge/x", true, false}, {"bridge", "#", false, false},
		{"lamp", "cmnd/tasmota_A1/POWER", false, true}, {"lamp", "cmnd/+/POWER", false, false}, {"lamp", "lamp/x", true, false},
		{"evil", "evil/x", true, true}, {"evil", "evil", true, true}, {"evil", "evil/#", false, true},
		{"evil", "zigbee2mqtt/hall/door", true, false}, {"evil", "zigbee2mqtt/hall/door", false, false}, {"evil", "zigbee2mqtt/bridge/request/restart", true, false},
		{"evil", "#", false, false}, {"evil", "+/hall/door", false, false}, {"evil", "evil/../zigbee2mqtt/hall/door", true, true}, // three levels of its own
		{"evil", "Evil/x", true, false}, {"evil", "/evil/x", true, false}, {"evil", "evilest/x", true, false},
		{"evil", "roomgate/room/g/door/state", true, false}, {"evil", "roomgate/room/g/#", false, false},
		{"nobody", "nobody/x", true, false}, {"", "x", true, false}, {"", "x", false, false},
	} {
		if got := a.May(q.user, q.topic, q.write); got != q.want {
			t.Errorf("%+v: %t", q, got)
		}
	}
}

// TestAConfigurationWithoutLists is one of commit 536cb25: its devices work on, and
// who speaks for one of them speaks for no other.
func TestAConfigurationWithoutLists(t *testing.T) {
	users := func(names ...string) string {
		all := ""
		for _, n := range names {
			all += "{name: " + n + ", password: x},"
		}
		return `{listen: "127.0.0.1:0", users: [` + all + "], home_assistant: {publish: true, commands: true, doors: true}}"
	}
	for _, c := range []struct {
		name     string
		broker   string
		devices  string
		may, not map[string][]string // topics that a user may and may not publish to
		unheard  []string
	}{
		{"named as their devices", users("zigbee2mqtt", "tasmota_A1", "fan", "o3-aurora", "evil"), zigbeeDoor + lamp + fan + hub, map[string][]string{
			"zigbee2mqtt": {"zigbee2mqtt/hall/door", "zigbee2mqtt/bridge/state", "homeassistant/light/0x1/light/config"},
			"tasmota_A1":  {"tele/tasmota_A1/LWT", "stat/tasmota_A1/RESULT"},
			"fan":         {"shellyplus1-08b6/online", "shellyplus1-08b6-roomgate/rpc"},
			"o3-aurora":   {"building/o3-aurora/events/object/motion"},
		}, map[string][]string{
			"zigbee2mqtt": {"tele/tasmota_A1/LWT", "zigbee2mqtt/hall/door/set", "fan/x", "roomgate/room/g/door/set"},
			"tasmota_A1":  {"zigbee2mqtt/hall/door", "roomgate/room/g/lamp/set", "cmnd/tasmota_A1/POWER"},
			"o3-aurora":   {"building/o3-aurora/commands/object/soundfile"},
			"evil":        {"zigbee2mqtt/hall/door", "tele/tasmota_A1/LWT", "shellyplus1-08b6/online"},
		}, nil},
		{"the README's of 536cb25", users("zigbee2mqtt", "atlas-light", "atlas-fan", "atlas-shelly"),
			"{id: atlas-lock, type: lock, driver: lock-zigbee2mqtt, timeout: 20s, options: {topic: zigbee2mqtt/atlas/door}}\n" +
				"{id: atlas-light, type: light, driver: light-tasmota, options: {topic: atlas-light}}\n" +
				"{id: atlas-fan, type: fan, driver: fan-esphome, options: {topic: atlas-fan, name: main_fan, speeds: 3}}\n" +
				"{id: atlas-o3, type: o3-sensor, driver: o3-room, options: {temperature: {dialect: shelly, topic: shellyhtg3-d885ac14d3ec, component: 'temperature:0', sleeps: true}, occupancy: {dialect: zigbee2mqtt, topic: zigbee2mqtt/atlas/motion}}}\n",
			map[string][]string{"zigbee2mqtt": {"zigbee2mqtt/atlas/door", "zigbee2mqtt/atlas/motion"}, "atlas-light": {"tele/atlas-light/LWT"},
				"atlas-fan": {"atlas-fan/fan/main_fan/state", "esphome/discover/atlas-fan"}, "atlas-shelly": {"shellyhtg3-d885ac14d3ec/online"}},
			map[string][]string{"atlas-shelly": {"zigbee2mqtt/atlas/door", "atlas-fan/status"}, "atlas-fan": {"zigbee2mqtt/atlas/door"}}, nil},
		{"names that are others' topics", users("zigbee2mqtt", "roomgate", "cmnd", "stat"), zigbeeDoor + lamp, map[string][]string{
			"zigbee2mqtt": {"zigbee2mqtt/hall/door"},
		}, map[string][]string{"roomgate": {"roomgate/room/g/door/set", "roomgate/x"}, "cmnd": {"cmnd/tasmota_A1/POWER", "cmnd/tasmotas/POWER"}}, nil},
		{"one for all", users("devices"), zigbeeDoor + lamp + fan, map[string][]string{
			"devices": {"zigbee2mqtt/hall/door", "tele/tasmota_A1/LWT", "shellyplus1-08b6/online", "roomgate/room/g/door/set"},
		}, map[string][]string{"devices": {"zigbee2mqtt/hall/door/set", "else/x"}}, nil},
		{"names that say nothing", users("bridge", "evil"), zigbeeDoor + lamp, map[string][]string{
			"bridge": {"tele/tasmota_A1/LWT"}, "evil": {"tele/tasmota_A1/LWT"},
		}, map[string][]string{
			"bridge": {"zigbee2mqtt/hall/door"}, "evil": {"zigbee2mqtt/hall/door", "roomgate/room/g/door/set"},
		}, []string{"door"}},
		{"a Home Assistant", users("zigbee2mqtt", "home-assistant", "evil"), zigbeeDoor, map[string][]string{
			"home-assistant": {"homeassistant/status", "roomgate/room/g/door/set"},
		}, map[string][]string{
			"home-assistant": {"roomgate/room/g/door/state", "zigbee2mqtt/hall/door"}, "evil": {"roomgate/room/g/door/set", "homeassistant/status"},
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := roombroker.Of(parse(t, c.broker, c.devices))
			for user, topics := range c.may {
				for _, topic := range topics {
					if !a.May(user, topic, true) {
						t.Errorf("%s may not publish to %s", user, topic)
					}
				}
			}
			for user, topics := range c.not {
				for _, topic := range topics {
					if a.May(user, topic, true) {
						t.Errorf("%s may publish to %s", user, topic)
					}
				}
			}
			if got := a.Unheard(); !slices.Equal(got, c.unheard) {
				t.Errorf("nobody speaks for %q, want %q", got, c.unheard)
			}
			if !slices.ContainsFunc(a.Advice(), func(a roombroker.Advice) bool { return strings.Contains(a.Seen, "has no list of topics") }) {
				t.Error("nobody is said to have no list")
			}
		})
	}
}

// TestADoorWithTwoVoices is told, and so is a device with none.
func TestADoorWithTwoVoices(t *testing.T) {
	a := roombroker.Of(parse(t, `{listen: "127.0.0.1:0", users: [{name: a, password: x, publish: ["zigbee2mqtt/#"], subscribe: []},
  {name: b, password: x, publish: ["+/hall/+"], subscribe: []}]}`, zigbeeDoor+lamp))
	var seen []string
	for _, one := range a.Advice() {
		seen = append(seen, one.Seen)
	}
	if want := []string{"no user may speak for device lamp", "several users may speak for the door door"}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
}

// TestExamples: who copies them gives every device a voice and no door two, and
// nothing is guessed.
func TestExamples(t *testing.T) {
	readme, err := os.ReadFile("../../drivers/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(readme), "```yaml\n")
	example, _, _ = strings.Cut(example, "\n```")
	for name, text := range map[string]string{"configs/gateway.yaml": string(configs.Gateway), "drivers/README.md": example} {
		c, err := config.Parse(name, []byte(text), all.All())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range roombroker.Of(c).Advice() {
			t.Errorf("%s: %s: %s", name, a.Seen, a.Fix)
		}
		if len(c.Broker.Users) < 4 {
			t.Errorf("%s has %d users", name, len(c.Broker.Users))
		}
	}
}
