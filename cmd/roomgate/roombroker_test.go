package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"roomgate/agent"
	"roomgate/agent/config"
	"roomgate/cloud/broker"
	"roomgate/drivers"
	"roomgate/drivers/all"
	"roomgate/drivers/host"
	"roomgate/drivers/sim"
)

const owned = `
gateway: {id: test}
broker: {listen: 127.0.0.1:0}
spaces:
  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01
    name: Aurora
    timezone: Europe/Berlin
    devices:
      - {id: door, type: lock, driver: lock-zigbee2mqtt, options: {topic: zigbee2mqtt/door}}
      - {id: lamp, type: light, driver: light-tasmota, options: {topic: lamp}}
`

// TestOwnedDevices: devices below the gateway's own broker, reached by their
// drivers without a socket.
func TestOwnedDevices(t *testing.T) {
	c, err := config.Parse("test.yaml", []byte(owned), all.All())
	if err != nil {
		t.Fatal(err)
	}
	w := sim.NewWorld()
	defer w.Close()
	g := &gateway{config: c, buses: w, out: io.Discard, log: slog.New(slog.DiscardHandler)}
	defer func() {
		if err := g.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := g.openRoomBroker(); err != nil {
		t.Fatal(err)
	}
	door := &sim.Gadget{Product: "zigbee2mqtt", Kind: "lock", Topic: "zigbee2mqtt/door"}
	lamp := &sim.Gadget{Product: "tasmota", Kind: "light", Topic: "lamp"}
	for _, p := range []sim.Part{door, lamp} {
		if err := w.Add("aurora", "device", p); err != nil {
			t.Fatal(err)
		}
	}
	lit := openDevice(t, c.Spaces[0].Devices[1].Options, w)
	untilDone(t, lit, drivers.ActOn)
	if lamp.Level() == 0 {
		t.Error("the lamp is dark")
	}
}

func openDevice(t *testing.T, o drivers.Options, b drivers.Buses) drivers.Driver {
	t.Helper()
	d, err := o.Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// untilDone waits until the device is there, and gives it an order.
func untilDone(t *testing.T, d drivers.Driver, action string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		_, err := d.Do(ctx, drivers.Command{Action: action})
		if err == nil {
			return
		}
		if !errors.Is(err, drivers.ErrOffline) || ctx.Err() != nil {
			t.Fatal(err)
		}
		if _, err := d.Poll(ctx); err != nil {
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// TestGuard: a door is opened by nobody else.
func TestGuard(t *testing.T) {
	c, err := config.Parse("test.yaml", []byte(owned), all.All())
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Open(t.Context(), agent.Options{Config: c, Buses: host.New(), DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	acl := guard(agent.OwnRoomTopics("g"), (&gateway{agent: a}).doors)
	for _, q := range []struct {
		user, topic string
		write, want bool
	}{
		{"bridge", "zigbee2mqtt/door/set", true, false},
		{"", "zigbee2mqtt/door/set/state", true, false},
		{"", "zigbee2mqtt/door/left/set", true, false},
		{"", "zigbee2mqtt/door/set", false, true},
		{broker.Inside, "zigbee2mqtt/door/set", true, true},
		{"bridge", "zigbee2mqtt/door", true, true},
		{"", "cmnd/lamp/POWER", true, true},
	} {
		if got := acl(q.user, q.topic, q.write); got != q.want {
			t.Errorf("%+v: %t", q, got)
		}
	}
}
