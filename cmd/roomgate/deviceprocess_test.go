//go:build integration && faults

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/cloud"
)

// gadgetry is a room with a lock of ESPHome and an O3 hub, both at a broker.
const gadgetry = `gateway: {id: wired}
spaces:
  - id: %s
    name: Aurora
    devices:
      - {id: door, type: lock, driver: lock-esphome, poll: 5s, options: {broker: "%[2]s", topic: door, name: main}}
      - {id: hub, type: o3-sensor, driver: o3-mqtt, poll: 1s, options: {address: "%[2]s", prefix: hub, username: "", silence: 5s}}
`

// gadgets are both devices: they say what they are told to say, and the hub does what it is ordered to, unless it is deaf.
type gadgets struct {
	t    *testing.T
	link *cloud.Link
	mu   sync.Mutex
	is   map[string]any // values of the hub, by their topic
	deaf bool

	saying sync.Mutex // what is older is said earlier
}

// openGadgets starts a broker, the devices and a gateway.
func openGadgets(t *testing.T) (*badDisk, *gadgets) {
	t.Helper()
	m := newMosquittoAt(t)
	m.start()
	g := &gadgets{t: t, is: map[string]any{"occupantTemperature": 21.5, "combinedOccupancy": 0, "lightringBrightness": 0, "lightringPattern": 1,
		"lightringColorOverride": 0, "lightringRed": 0, "lightringGreen": 0, "lightringBlue": 0, "soundfile": "(0) Idle (Off).wav"}}
	g.link = cloud.NewLink(cloud.LinkOptions{URL: "mqtt://" + m.address, ClientID: "gadgets", Subscribe: []string{"hub/commands/object/+", "esphome/ping/door"}, Receive: g.obey})
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { _ = g.link.Run(ctx) })
	loops.Go(func() {
		for tick := time.Tick(time.Second); ctx.Err() == nil; <-tick {
			g.report()
		}
	})
	t.Cleanup(func() { cancel(); loops.Wait() })
	awaitThat(t, "the devices are at the broker", g.link.Connected)
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, gadgetry, demoRoom, m.address), 0o600); err != nil {
		t.Fatal(err)
	}
	g.say("door/lock/main/state", "LOCKED", true)
	return openBadDisk(t, t.TempDir(), special{config: file}), g
}

func (g *gadgets) say(topic, payload string, retained bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := g.link.Publish(ctx, cloud.Message{Topic: topic, Payload: []byte(payload), QoS: 1, Retained: retained}); err != nil && g.link.Connected() {
		g.t.Errorf("%s: %v", topic, err)
	}
}

// report says all values of the hub.
func (g *gadgets) report() {
	g.saying.Lock()
	defer g.saying.Unlock()
	g.mu.Lock()
	texts := map[string]string{}
	for name, v := range g.is {
		text, _ := json.Marshal(map[string]any{"Present_Value": v})
		texts[name] = string(text)
	}
	g.mu.Unlock()
	for name, text := range texts {
		g.say("hub/events/object/"+name, text, false)
	}
}

// obey carries an order out, and reports it.
func (g *gadgets) obey(_ context.Context, m cloud.Message) error {
	var order struct {
		Data any `json:"data"`
	}
	if m.Topic == "esphome/ping/door" {
		go g.say("esphome/discover/door", `{"name":"door"}`, false)
		return nil
	}
	name := m.Topic[strings.LastIndex(m.Topic, "/")+1:]
	if err := json.Unmarshal(m.Payload, &order); err != nil {
		g.t.Errorf("%s: %s", m.Topic, m.Payload)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.deaf {
		g.is[name] = order.Data
		go g.report()
	}
	return nil
}

// change changes a value of the hub; nil: it says no such value.
func (g *gadgets) change(name string, v any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.is[name] = v; v == nil {
		delete(g.is, name)
	}
}

// fact is what a gateway says of a part of a device, and why.
func (d *badDisk) fact(device, sub string) (status, value, reason string) {
	d.t.Helper()
	var got struct {
		Status string          `json:"status"`
		Value  json.RawMessage `json:"value"`
		Reason string          `json:"reason"`
	}
	code, err := d.call(http.MethodGet, "/v2.0/meeting-spaces/"+demoRoom+"/devices/"+device+"/status?sub_device="+sub, nil, &got)
	if err != nil || code != http.StatusOK {
		d.t.Fatalf("the status of %s %s: %d, %v", device, sub, code, err)
	}
	return got.Status, strings.Trim(string(got.Value), `"`), got.Reason
}

// TestDevicesOfAGatewayHaveBadNews: a lock that says it is jammed is shown so at once, though it is looked at each 5 s; a hub that
// says a megabyte in place of a value has none, and the reason names topic and size.
func TestDevicesOfAGatewayHaveBadNews(t *testing.T) {
	d, g := openGadgets(t)
	injected := 0
	for range 3 {
		awaitThat(t, "the door is closed", func() bool { status, value, _ := d.fact("lock", ""); return status == "online" && value == "closed" })
		g.say("door/lock/main/state", "JAMMED", true)
		began := time.Now()
		awaitThat(t, "it is jammed", func() bool {
			status, _, reason := d.fact("lock", "")
			return status == "offline" && strings.Contains(reason, "jammed")
		})
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("for %v the door was shown closed, and it was jammed", took)
		}
		g.say("door/lock/main/state", "LOCKED", true)
		injected++
	}
	warm := func() bool {
		status, value, _ := d.fact("o3-sensor", "temperature")
		return status == "normal" && value == "21.5"
	}
	const topic = "hub/events/object/occupantTemperature"
	large := `{"Present_Value": "` + strings.Repeat("x", 1<<20) + `"}`
	awaitThat(t, "the hub says what it measures", warm)
	g.saying.Lock()
	g.change("occupantTemperature", nil)
	g.say(topic, large, true)
	g.saying.Unlock()
	awaitThat(t, "it has no temperature, and why is said", func() bool {
		status, _, reason := d.fact("o3-sensor", "temperature")
		return status == "offline" && strings.Contains(reason, topic) && strings.Contains(reason, strconv.Itoa(len(large)/1000))
	})
	if status, value, _ := d.fact("o3-sensor", "occupancy"); status != "online" || value != "vacant" {
		t.Errorf("then the occupancy is %s %s", status, value)
	}
	d.kill()
	d.start() // the broker gives it the large message first
	awaitThat(t, "after a start it knows the others", func() bool {
		status, value, _ := d.fact("o3-sensor", "occupancy")
		return status == "online" && value == "vacant"
	})
	began := time.Now()
	g.change("occupantTemperature", 21.5)
	awaitThat(t, "the temperature is back", warm)
	d.longest = time.Since(began)
	survived(t, injected+2)
	t.Attr("recovery", d.longest.String())
}

// TestDarkRingOfAGateway: the ring of a hub is dimmed to nothing. Switched on it is bright, and its receipt says so; a hub that does
// nothing proves nothing by what it said before.
func TestDarkRingOfAGateway(t *testing.T) {
	d, g := openGadgets(t)
	awaitThat(t, "the ring is off", func() bool {
		status, value, _ := d.fact("o3-sensor", "ring-light")
		return status == "online" && value == "false"
	})
	order := func(action, want string) {
		t.Helper()
		var receipt struct {
			State    string `json:"state"`
			Evidence *struct {
				Value      string    `json:"value"`
				ObservedAt time.Time `json:"observed_at"`
			} `json:"evidence"`
		}
		began := time.Now()
		status, err := d.call(http.MethodPost, "/devices/"+demoRoom+"/action", map[string]any{"device_type": "o3-sensor", "sub_device": "ring-light", "action": action, "wait": "10s"}, &receipt)
		if err != nil || (status == http.StatusOK) != (want == "done") || receipt.State != want {
			t.Errorf("%s gives %d %+v, %v, want %s", action, status, receipt, err, want)
		}
		if e := receipt.Evidence; want == "done" && (e == nil || e.Value != action || e.ObservedAt.Before(began.Truncate(time.Millisecond))) {
			t.Errorf("%s at %v is proved by %+v", action, began, e)
		}
	}
	order("on", "done")
	g.mu.Lock()
	bright := g.is["lightringBrightness"]
	g.mu.Unlock()
	if bright == 0 {
		t.Error("the ring is on, and dimmed to nothing")
	}
	order("off", "done")
	g.mu.Lock()
	g.deaf = true
	g.mu.Unlock()
	order("on", "failed")
	survived(t, 3)
}
