package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/doctor"
	"roomgate/drivers"
	"roomgate/drivers/all"
	"roomgate/drivers/host"
	"roomgate/drivers/session"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/peers"
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
	door := &peers.Gadget{Product: "zigbee2mqtt", Kind: "lock", Topic: "zigbee2mqtt/door"}
	lamp := &peers.Gadget{Product: "tasmota", Kind: "light", Topic: "lamp"}
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

// untilDone waits until the device is there, and gives it a command.
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

const guests = `
gateway: {id: test}
broker:
  listen: 127.0.0.1:0
  users: [{name: zigbee2mqtt, password: secret}, {name: evil, password: secret}]
spaces:
  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01
    name: Aurora
    timezone: Europe/Berlin
    devices:
      - {id: door, type: lock, driver: lock-zigbee2mqtt, options: {topic: zigbee2mqtt/door, timeout: 2s}}
`

// atBroker is a client of the room broker, over the network. It runs until the
// test ends.
func atBroker(t *testing.T, address, user string, hear func(topic string), filters ...string) *session.Session {
	t.Helper()
	up := make(chan struct{}, 1)
	s := session.New(session.Options{Peer: "broker", Address: address, ClientID: user + "/" + session.NewID(), Username: user,
		Password: func() (string, error) { return "secret", nil }, Filters: filters, WriteTimeout: time.Second,
		Up:      func() {},
		Receive: func(topic string, _ []byte, _ bool) { hear(topic) },
		Tend: func(ctx context.Context, _ func(context.Context) error) error {
			select {
			case up <- struct{}{}:
			default:
			}
			<-ctx.Done()
			return ctx.Err()
		},
		Down: func(error) bool { return true }}, host.New())
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	select {
	case <-up:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s is not at the broker", user)
	}
	return s
}

// TestAGuestSpeaksForNobody: a bolt that is stuck was not closed because another
// user of the room broker says so. Without lists, as configurations were.
func TestAGuestSpeaksForNobody(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("test.yaml", []byte(guests), all.All())
	if err != nil {
		t.Fatal(err)
	}
	w := sim.NewWorld()
	defer w.Close()
	var said strings.Builder
	c.Data = t.TempDir()
	g := &gateway{config: c, buses: w, out: &said, log: slog.New(slog.DiscardHandler), demo: demoParts{simulated: true}}
	defer func() {
		if err := g.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := g.openRoomBroker(); err != nil {
		t.Fatal(err)
	}
	if err := g.openAgent(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = g.brokers[0].run(ctx) })
	defer running.Wait()
	defer cancel()
	_, address, _ := strings.Cut(strings.TrimSpace(said.String()), "mqtt://")

	asked := make(chan string, 100)
	bridge := atBroker(t, address, "zigbee2mqtt", func(topic string) {
		select {
		case asked <- topic:
		default:
		}
	}, "zigbee2mqtt/#")
	evil := atBroker(t, address, "evil", func(string) {}, "evil/#")
	say := func(who *session.Session, payload string) {
		_ = who.Send(ctx, session.Message{Topic: "zigbee2mqtt/door", Payload: []byte(payload)})
	}
	running.Go(func() { // the bridge answers: the bolt does not move
		for {
			select {
			case <-ctx.Done():
				return
			case topic := <-asked:
				if strings.HasSuffix(topic, "/get") || strings.HasSuffix(topic, "/set") {
					say(bridge, `{"state": "UNLOCK", "lock_state": "unlocked"}`)
				}
			}
		}
	})
	lock := openDevice(t, c.Spaces[0].Devices[0].Options, w)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if s, err := lock.Poll(ctx); err == nil && len(s) > 0 && s[0].Err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the bridge does not reach the gateway")
		}
	}
	running.Go(func() {
		for ctx.Err() == nil {
			say(evil, `{"state": "LOCK", "lock_state": "locked"}`)
			time.Sleep(5 * time.Millisecond)
		}
	})
	if s, err := lock.Do(ctx, drivers.Command{Action: drivers.ActClose}); err == nil {
		t.Errorf("the bolt is stuck, and was said to be %s", s.Value)
	}
}

// TestDoctorHearsOfRefused: whose password was wrong at the room broker is told behind the control socket,
// as the doctor reads it.
func TestDoctorHearsOfRefused(t *testing.T) {
	c, err := config.Parse("test.yaml", []byte(guests), all.All())
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
	asked := func() (all []doctor.RefusedLogIn) {
		t.Helper()
		answer := httptest.NewRecorder()
		g.extraDoors()["GET /room-broker/refused"].ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/room-broker/refused", nil))
		if err := json.Unmarshal(answer.Body.Bytes(), &all); err != nil {
			t.Fatalf("%s: %v", answer.Body, err)
		}
		return all
	}
	if found := asked(); found != nil {
		t.Errorf("without a room broker %+v", found)
	}
	if err := g.openRoomBroker(); err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- g.room.Serve(far) }()
	connect := "\x00\x04MQTT\x04\xc2\x00\x3c\x00\x01a\x00\x0bzigbee2mqtt\x00\x05wrong"
	if _, err := near.Write([]byte("\x10" + string(rune(len(connect))) + connect)); err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(near) // until it is refused
	<-served
	found := asked()
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	if want := (doctor.RefusedLogIn{User: "zigbee2mqtt", Address: "this machine", Times: 1, Last: found[0].Last}); found[0] != want || want.Last.IsZero() {
		t.Errorf("%+v", found)
	}
}
