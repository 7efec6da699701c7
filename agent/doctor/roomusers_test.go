package doctor

import (
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/drivers"
	"roomgate/drivers/all"
)

// bridged is a meeting space with a light at the room broker, one on the network and one on a line, all offline.
func bridged(t *testing.T) *examination {
	t.Helper()
	c, err := config.Parse("gateway.yaml", []byte(`gateway: {id: a}
broker:
  listen: 127.0.0.1:0
  users:
    - {name: hub, password: else}
    - {name: zigbee2mqtt, password: right}
spaces:
  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01
    name: Atlas
    devices:
      - {id: lamp, type: light, driver: light-zigbee2mqtt, options: {topic: zigbee2mqtt/lamp}}
      - {id: vent, type: fan, driver: fan-tasmota, options: {topic: vent, broker: "10.0.0.9:1883"}}
      - {id: door, type: lock, driver: lock-relay, options: {relay: GPIO17}}
      - {id: hub, type: o3-sensor, driver: o3-parts, options: {bus: i2c-1, pir: GPIO5, buzzer: GPIO6, ring: SPI0.0}}
      - {id: eye, type: camera, driver: camera-usb, options: {device: /dev/video0}}
`), all.All())
	if err != nil {
		t.Fatal(err)
	}
	x := &examination{Options: Options{Root: t.TempDir(), Config: c, ConfigFile: "gateway.yaml", Service: Service{Loaded: true}, Building: &Building{}}}
	for _, kind := range []string{drivers.TypeLight, drivers.TypeFan, drivers.TypeLock, drivers.TypeO3, drivers.TypeCamera} {
		x.Building.Devices = append(x.Building.Devices, Device{"Atlas", kind, true, []device.Reading{{Record: device.Record{Device: kind, Status: device.Offline}, Reason: "no answer"}}})
	}
	return x
}

// TestRefusedAtTheRoomBroker: who logs in with a wrong password is named, and the device for which he
// speaks is told that.
func TestRefusedAtTheRoomBroker(t *testing.T) {
	x := bridged(t)
	if found := roomLogIns(t.Context(), x); found != nil {
		t.Errorf("nobody was refused: %+v", found)
	}
	at := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	x.Building.Refused = []RefusedLogIn{{User: "zigbee2mqtt", Address: "10.0.0.7", Times: 7, Last: at}}
	f := roomLogIns(t.Context(), x)[0]
	f.is(t, "wrong", Fail, "user zigbee2mqtt, from 10.0.0.7, 7 times with a wrong password, last at 2026-11-24T10:00:00Z")
	if want := "give what logs in there as zigbee2mqtt the password of this user, or write the one that it has into gateway.yaml as broker.users[1].password, then sudo systemctl restart roomgate"; f.Fix != want {
		t.Errorf("the fix is %q", f.Fix)
	}
	if fix := devices(t.Context(), x)[0].Fix; fix != "correct the password of user zigbee2mqtt first, as log-in at the room broker says" {
		t.Errorf("the fix of the lamp is %q", fix)
	}
	x.Building.Refused[0].In = true
	roomLogIns(t.Context(), x)[0].is(t, "somebody else is in", Warn, "zigbee2mqtt")
	x.Config.Broker.Users[1].Password, x.Config.Broker.Users[1].PasswordFile = "", "${CREDENTIALS_DIRECTORY}/secret_zigbee2mqtt"
	if f := roomLogIns(t.Context(), x)[0]; !strings.Contains(f.Fix, "into /etc/roomgate/credentials/zigbee2mqtt (sudo tee ") {
		t.Errorf("the fix is %q", f.Fix)
	}
	x.Building.Refused[0].User = "made-later"
	if f := roomLogIns(t.Context(), x)[0]; !strings.HasSuffix(f.Fix, "the password of this user, or remove the device from the console and add it there once more") {
		t.Errorf("the fix is %q", f.Fix)
	}
}

// TestFixByDriver: only a device on a line is told to look at its wires.
func TestFixByDriver(t *testing.T) {
	x := bridged(t)
	for i, want := range []string{
		"check its power and network, that it or its bridge logs in at the room broker as user zigbee2mqtt, and its topic in gateway.yaml at line 11",
		"check its power and network, and its broker or address, user and password in gateway.yaml at line 12",
		"check the wiring, and that the configuration names the line it is on",
		"check the wiring, and that the configuration names the line it is on",
		"check its cable, and that gateway.yaml at line 15 names it",
	} {
		if f := devices(t.Context(), x)[i]; f.State != Fail || f.Fix != want {
			t.Errorf("%+v\nwant %q", f, want)
		}
	}
	x.Building.Devices[0].Space = "Made at the console"
	if f := devices(t.Context(), x)[0]; !strings.HasSuffix(f.Fix, "its options at the console") {
		t.Errorf("%+v", f)
	}
}
