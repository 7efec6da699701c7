package main

import (
	"testing"

	"roomgate/agent/config"
	"roomgate/agent/setup"
	"roomgate/drivers"
	"roomgate/drivers/all"
)

// A part of the board is refused while another room has it, and free once that room's
// device is asked about in this round. A device keeps its own.
func TestPartsOfOtherRooms(t *testing.T) {
	const file = `gateway: {id: a}
spaces:
  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01
    name: Bora
    devices:
      - {id: bora-lock, type: lock, driver: lock-relay, options: {relay: GPIO17, sense: GPIO27}}
      - {id: bora-camera, type: camera, driver: camera-usb, options: {device: /dev/v4l/by-id/x}}
`
	c, err := config.Parse("gateway.yaml", []byte(file), all.All())
	if err != nil {
		t.Fatal(err)
	}
	said := func(u *boardUses, deviceType string, part setup.Part, name string) string {
		if err := u.elsewhere(deviceType, part, name); err != nil {
			return err.Error()
		}
		return ""
	}
	for _, one := range []struct {
		room, deviceType, name, want string
		part                         setup.Part
	}{
		{"Atlas", drivers.TypeLock, "GPIO27", `room Bora has GPIO27 already, as "lock: line of the switch at the bolt": want another`, setup.Lines},
		{"Atlas", drivers.TypeCamera, "/dev/v4l/by-id/x", `room Bora has /dev/v4l/by-id/x already, as "camera: path": want another`, setup.Cameras},
		{"Atlas", drivers.TypeLock, "GPIO4", "", setup.Lines},
		{"Bora", drivers.TypeLock, "GPIO17", "", setup.Lines},
		{"Bora", drivers.TypeFan, "GPIO17", `room Bora has GPIO17 already, as "lock: line of the relay": want another`, setup.Lines},
	} {
		u := &boardUses{kinds: all.All(), known: c.Spaces, rooms: []string{one.room}}
		if got := said(u, one.deviceType, one.part, one.name); got != one.want {
			t.Errorf("%s of the %s of %s: %q, want %q", one.name, one.deviceType, one.room, got, one.want)
		}
	}
	u := &boardUses{kinds: all.All(), known: c.Spaces, rooms: []string{"Bora"}}
	u.take(drivers.TypeLock, "lock: line of the relay, or zigbee2mqtt", 0, "")
	u.rooms = append(u.rooms, "Atlas")
	if got := said(u, drivers.TypeLock, setup.Lines, "GPIO17"); got != "" {
		t.Errorf("a line that was given up: %q", got)
	}
	u.take(drivers.TypeLock, "lock: line of the relay, or zigbee2mqtt", setup.Lines, "GPIO17")
	if got, want := said(u, drivers.TypeFan, setup.Lines, "GPIO17"), `room Atlas has GPIO17 already, as "lock: line of the relay": want another`; got != want {
		t.Errorf("a line that was asked for: %q, want %q", got, want)
	}
}
