package api

import (
	"strings"
	"testing"
	"time"
)

func TestDeviceMadeOverHTTP(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		made := b.ask("POST", "/devices", `{"meeting_space_id":"`+borealis+`","id":"borealis-hub","device_type":"o3-sensor","driver":"o3-room",
			"options":{"occupancy":{"dialect":"zigbee2mqtt","topic":"z/motion"}}}`)
		if made.StatusCode != 201 || !strings.Contains(made.body, `"id":"borealis-hub"`) {
			t.Fatalf("made: %d %s", made.StatusCode, made.body)
		}
		sensor := b.ask("POST", "/v1.0/devices/borealis-hub/sensors", `{"sub_device":"temprature","options":{"dialect":"tasmota","topic":"plug"}}`)
		if sensor.StatusCode != 201 {
			t.Errorf("the sensor: %d %s", sensor.StatusCode, sensor.body)
		}
		time.Sleep(5 * time.Second)
		if got := b.ask("POST", "/devices/"+borealis+"/status", `{"device_type":"o3-sensor","sub_device":"temperature"}`); got.StatusCode != 200 {
			t.Errorf("its status: %d %s", got.StatusCode, got.body)
		}
		if got := b.ask("GET", "/devices/types?meeting_space_id="+borealis); !strings.Contains(got.body, "o3-sensor") {
			t.Errorf("the types: %s", got.body)
		}
		if got := b.ask("DELETE", "/devices/borealis-hub/sensors/temperature"); got.StatusCode != 204 {
			t.Errorf("the sensor goes: %d %s", got.StatusCode, got.body)
		}
		if got := b.ask("DELETE", "/devices/borealis-hub"); got.StatusCode != 204 {
			t.Errorf("it goes: %d %s", got.StatusCode, got.body)
		}
		if got := b.ask("POST", "/devices/"+borealis+"/status", `{"device_type":"o3-sensor"}`); got.StatusCode != 404 {
			t.Errorf("its status: %d %s", got.StatusCode, got.body)
		}
	})
}

func TestDevicesThatAreNotMade(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		at := `"meeting_space_id":"` + borealis + `"`
		for body, want := range map[string]string{
			`{` + at + `,"driver":"light-pwm"}`:                                                                "422 device_type",
			`{` + at + `,"device_type":"light"}`:                                                               "422 driver",
			`{` + at + `,"device_type":"lamp","driver":"light-pwm"}`:                                           "422 device_type",
			`{` + at + `,"device_type":"light","driver":"light-pmw"}`:                                          "422 driver",
			`{` + at + `,"device_type":"light","driver":"light-pwm","options":[]}`:                             "422 options",
			`{` + at + `,"device_type":"light","driver":"light-pwm","options":{"chanel":"x"}}`:                 "422 options.chanel",
			`{` + at + `,"device_type":"light","driver":"light-pwm","options":{"channel":"a","channel":"b"}}`:  "422 options.channel",
			`{` + at + `,"device_type":"light","driver":"light-pwm","alert":{"low":90},"options":{}}`:          "422 alert.low",
			`{` + at + `,"device_type":"camera","driver":"camera-http","options":{"password_file":"/etc/hi"}}`: "422 options.password_file",
			`{` + at + `,"id":"aurora-lock","device_type":"light","driver":"light-pwm"}`:                       "409 id",
			`{"meeting_space_id":"nowhere","device_type":"light","driver":"light-pwm"}`:                        "404 meeting_space_id",
		} {
			got := b.ask("POST", "/devices", body)
			status, field, _ := strings.Cut(want, " ")
			if !strings.HasPrefix(got.Status, status) || !strings.Contains(got.body, `"field":"`+field+`"`) {
				t.Errorf("%s: %s %s, want %s", body, got.Status, got.body, want)
			}
		}
		if got := b.ask("DELETE", "/devices/aurora-lock"); got.StatusCode != 409 {
			t.Errorf("one of the file goes: %d %s", got.StatusCode, got.body)
		}
		if n := len(b.devices()); n != 5 {
			t.Errorf("there are %d devices", n)
		}
	})
}

func TestPermissionsOverHTTP(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		if got := b.ask("PATCH", "/devices/aurora-lock", `{"permissions":[{"action":"open","allow":["admin"]}]}`); got.StatusCode != 200 || !strings.Contains(got.body, `"allow":["admin"]`) {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		_, key := b.orgKey(t, auroraOrg, "devices:read", "devices:write")
		order := b.net.do(t, "POST", "/devices/"+aurora+"/action", `{"device_type":"lock","action":"open"}`, key)
		if order.StatusCode != 403 || !strings.Contains(order.body, "is for system, admin") {
			t.Errorf("an order: %d %s", order.StatusCode, order.body)
		}
		if got := b.net.do(t, "POST", "/devices/"+aurora+"/control", `{"device_type":"lock"}`, key); !strings.Contains(got.body, `{"action":"open","allowed":false`) || !strings.Contains(got.body, `{"action":"close","allowed":true`) {
			t.Errorf("control: %s", got.body)
		}
		if got := b.ask("POST", "/devices/"+aurora+"/action", `{"device_type":"lock","action":"open"}`); got.StatusCode == 403 {
			t.Errorf("a system key: %d %s", got.StatusCode, got.body)
		}
	}, tenants)
}
