package api

import (
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
)

func (b *building) devices() []device.Info {
	b.t.Helper()
	all, err := b.agent.Site.Devices("")
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func TestDisableAndEnableOverHTTP(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		golden(t, "device-disabled", b.ask("POST", "/devices/aurora-light/disable").body)
		if got := b.ask("POST", "/devices/"+aurora+"/status", `{"device_type":"light"}`); !strings.Contains(got.body, `"offline"`) {
			t.Errorf("status %s", got.body)
		}
		if got := b.ask("POST", "/devices/"+aurora+"/control", `{"device_type":"light"}`); !strings.Contains(got.body, "offline: disabled") {
			t.Errorf("control %s", got.body)
		}
		golden(t, "problem-disabled", b.ask("POST", "/devices/"+aurora+"/action", `{"device_type":"light","action":"on"}`).body)
		if got := b.ask("POST", "/v1.0/devices/aurora-light/enable", `{}`); got.StatusCode != 200 {
			t.Errorf("enable: %d %s", got.StatusCode, got.body)
		}
		time.Sleep(5 * time.Second)
		if got := b.ask("POST", "/devices/"+aurora+"/action", `{"device_type":"light","action":"on"}`); got.StatusCode != 200 {
			t.Errorf("an order after it was enabled: %d %s", got.StatusCode, got.body)
		}
		if got := b.ask("GET", "/devices/"+aurora+"/events?event_type=deviceDisabled"); !strings.Contains(got.body, `"by":"system key"`) {
			t.Errorf("events %s", got.body)
		}
	})
}

func TestChangesOfADeviceThatAreRefused(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for body, want := range map[string]string{
			`{}`:                               "nothing is to be changed",
			`{"poll":5}`:                       `"field":"poll"`,
			`{"poll":"soon"}`:                  `"field":"poll"`,
			`{"poll":"1ms"}`:                   `"field":"poll"`,
			`{"enabled":"yes"}`:                `"field":"enabled"`,
			`{"alert":5}`:                      `"field":"alert"`,
			`{"alert":{"low":"1"}}`:            `"field":"alert.low"`,
			`{"alert":{"low":29}}`:             `"field":"alert.high"`,
			`{"alert":{"high":1e999}}`:         `"field":"alert.high"`,
			`{"alert":{"hysteresis":-1}}`:      `"field":"alert.hysteresis"`,
			`{"alert":{"low":20,"low":21}}`:    "twice",
			`{"driver":"other"}`:               `"field":"driver"`,
			`{"alert":{"low":20},"typo":true}`: `"field":"typo"`,
		} {
			if got := b.ask("PATCH", "/devices/aurora-o3", body); got.StatusCode != 422 || !strings.Contains(got.body, want) {
				t.Errorf("%s: %d %s", body, got.StatusCode, got.body)
			}
		}
		for _, path := range []string{"/devices/nothing/enable", "/devices/nothing/disable"} {
			if got := b.ask("POST", path); got.StatusCode != 404 {
				t.Errorf("%s: %d", path, got.StatusCode)
			}
		}
		if got := b.net.do(t, "POST", "/devices/aurora-lock/disable"); got.StatusCode != 401 {
			t.Errorf("without a key: %d", got.StatusCode)
		}
		for _, d := range b.devices() {
			if !d.Enabled || d.Alert.Low != 16 {
				t.Errorf("%s was changed: %+v", d.ID, d)
			}
		}
	})
}
