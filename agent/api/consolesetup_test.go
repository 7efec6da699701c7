package api

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"roomgate/agent/config"
)

// withRoomBroker has a room broker with one user.
func withRoomBroker(c *config.Config) {
	c.Broker.Listen = "127.0.0.1:1883"
	c.Broker.Users = []config.User{{Name: "panel", Password: "panel-secret", Publish: []string{}, Subscribe: []string{}}}
}

// setsUp is an admin at the page that adds meeting spaces and devices.
type setsUp struct {
	*building
	t   *testing.T
	who string
}

func (s setsUp) do(action, body, want string) string {
	s.t.Helper()
	got := s.net.do(s.t, "POST", "/console/setup/"+action, s.who, body)
	var said struct{ Panel, Detail string }
	if err := json.Unmarshal([]byte(got.body), &said); err != nil || (want == "") != (got.StatusCode == 200) || !strings.Contains(said.Detail, want) {
		s.t.Errorf("%s %s: %d %s, want %q", action, body, got.StatusCode, got.body, want)
	}
	return said.Panel
}

func (s setsUp) space(name string) (id string) {
	for _, one := range s.agent.Site.Spaces() {
		if one.Name == name {
			id = one.ID
		}
	}
	return id
}

// TestConsoleSetsUp: an admin adds a meeting space and its devices with the questions and
// the checks of roomgate setup, and takes them back.
func TestConsoleSetsUp(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		s := setsUp{b, t, b.atConsole()}
		s.do("space", `{"name":"Delta","timezone":"Berlin"}`, "want an IANA name like Europe/Berlin")
		s.do("space", `{"name":"","timezone":"Europe/Berlin"}`, "name")
		s.do("space", `{"name":"Delta","timezone":"Europe/Berlin"}`, "")
		s.do("space", `{"name":"delta","timezone":"Europe/Berlin"}`, "name")
		s.do("space", `{"name":"Delta!","timezone":"Europe/Berlin"}`, "would be one with Delta in the ids of their devices, as delta-lock: want another name")
		delta := s.space("Delta")
		for _, c := range []struct{ way, options, want string }{
			{"light-laser", `{}`, "is not known"},
			{"light-pwm", `{}`, "channel is missing: want chip and channel"},
			{"light-pwm", `{"channel":"pwm0"}`, "want chip and number, as pwmchip0/0"},
			{"lock-relay", `{"relay":"pin 11"}`, "as GPIO17 for pin 11 of a Raspberry Pi"},
			{"o3-mqtt", `{"address":"hub"}`, "want HOST:PORT, as 10.0.0.31:1883"},
			{"light-zigbee2mqtt", `{"topic":"zigbee2mqtt/#"}`, "topic"},
			{"light-zigbee2mqtt", `{"topic":5}`, "is not of texts"},
			{"o3-room-shelly", `{}`, "is missing"},
			{"light-pwm", `{"channel":"pwmchip7/0"}`, ""},
			{"light-pwm", `{"channel":"pwmchip7/1"}`, "id"},
			{"o3-room-esphome", `{"temperature":{"topic":"delta-air","name":"temperature"},"occupancy":{"topic":""}}`, ""},
			{"display-page", `{}`, ""},
		} {
			s.do("device", `{"space":"`+delta+`","way":"`+c.way+`","options":`+c.options+`}`, c.want)
		}
		panel := s.do("device", `{"space":"`+delta+`","way":"fan-zigbee2mqtt","options":{"topic":"zigbee2mqtt/delta-fan"}}`, "")
		password := regexp.MustCompile(`<dt>User</dt><dd><code>zigbee2mqtt</code></dd><dt>Password</dt><dd><code>([a-z2-7]{20})</code>`).FindStringSubmatch(panel)
		if password == nil || !strings.Contains(panel, "next-identify") {
			t.Fatalf("the dialog is %s", panel)
		}
		if got, known := b.agent.Site.RoomPassword("zigbee2mqtt"); !known || got != password[1] {
			t.Errorf("the user's password is %q, %t", got, known)
		}
		a := b.agent.Site.RoomAccess()
		if !a.May("zigbee2mqtt", "zigbee2mqtt/delta-fan", true) || !a.May("zigbee2mqtt", "zigbee2mqtt/delta-fan/set", false) || a.May("zigbee2mqtt", "delta-air/status", true) || a.May("panel", "zigbee2mqtt/delta-fan", true) {
			t.Errorf("the topics are %s", a.Topics("zigbee2mqtt"))
		}
		page := b.net.do(t, "GET", "/console/stream/setup", s.who).body
		if !strings.Contains(page, "fan-zigbee2mqtt") || strings.Contains(page, password[1]) || !strings.Contains(page, "remove-"+delta) || strings.Contains(page, "remove-"+aurora) {
			t.Errorf("the page is %s", page)
		}
		s.do("remove", `{"space":"`+aurora+`"}`, "is a meeting space of the configuration file")
		s.do("dance", `{}`, "is not known")
		s.do("remove", `{"space":"`+delta+`"}`, "")
		if _, known := b.agent.Site.RoomPassword("zigbee2mqtt"); known || s.space("Delta") != "" || b.agent.Site.RoomAccess().May("zigbee2mqtt", "zigbee2mqtt/x", true) {
			t.Error("what was added with the meeting space is still there")
		}
		if changes := b.net.do(t, "GET", "/console/stream/changes", s.who).body; !strings.Contains(changes, "Space removed") || !strings.Contains(changes, "Device created") {
			t.Errorf("the log of changes is %s", changes)
		}
	}, withRoomBroker)
}

// TestConsoleSetsUpWithoutARoomBroker says what to do first.
func TestConsoleSetsUpWithoutARoomBroker(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		s := setsUp{b, t, b.atConsole()}
		s.do("space", `{"name":"Delta","timezone":"Europe/Berlin"}`, "")
		s.do("device", `{"space":"`+s.space("Delta")+`","way":"light-shelly","options":{"topic":"shellyplus1-1"}}`, "sudo roomgate setup")
	}, func(c *config.Config) { c.Broker = config.Broker{} })
}
