package api

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/agenttest"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/message"
	"roomgate/cloud"
	"roomgate/cloud/broker"
)

// inTheCloud runs f in virtual time with the demo building and a link to its
// cloud; got returns what came up so far.
func inTheCloud(t *testing.T, f func(t *testing.T, link *cloud.Link, got func() []cloud.Message)) {
	belowTheCloud(t, func(t *testing.T, _ *agenttest.Building, link *cloud.Link, got func() []cloud.Message) {
		f(t, link, got)
	})
}

// belowTheCloud is inTheCloud with the building.
func belowTheCloud(t *testing.T, f func(t *testing.T, b *agenttest.Building, link *cloud.Link, got func() []cloud.Message)) {
	synctest.Test(t, func(t *testing.T) {
		b, err := broker.Open(broker.Options{AllowAnonymousLoopback: true})
		if err != nil {
			t.Fatal(err)
		}
		var running, wires sync.WaitGroup
		ctx, cancel := context.WithCancel(context.Background())
		running.Go(func() { _ = b.Run(ctx) })
		dial := func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			wires.Go(func() { _ = b.Serve(far) })
			return near, nil
		}
		var mu sync.Mutex
		var all []cloud.Message
		link := cloud.NewLink(cloud.LinkOptions{URL: "mqtt://cloud", ClientID: "backend", Dial: dial,
			Subscribe: []string{"roomgate/v1/demo/up/#"}, Receive: func(_ context.Context, m cloud.Message) error {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, m)
				return nil
			}})
		linked, unlink := context.WithCancel(context.Background())
		running.Go(func() { _ = link.Run(linked) })
		time.Sleep(5 * time.Second)
		building := agenttest.Start(t, agenttest.Options{Dial: dial, Settings: []config.Setting{{Key: "cloud.url", Value: "mqtt://cloud"}}})
		time.Sleep(5 * time.Second)
		hello := message.Request{To: message.To{Email: "ada@example.com"}, SpaceID: agenttest.Aurora, Title: "a", Body: "b", Source: message.FromAPI}
		if _, err := building.Messages.Send(t.Context(), hello, ""); err != nil {
			t.Fatal(err)
		}
		f(t, building, link, func() []cloud.Message {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		})
		building.Stop()
		unlink()
		cancel()
		running.Wait()
		wires.Wait()
	})
}

func parseAsync(t *testing.T) spec {
	t.Helper()
	var s spec
	if err := yaml.Unmarshal(asyncapiYAML, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// channel finds the channel of a topic.
func (s spec) channel(topic string) (name string, channel any) {
	for name, c := range s.at(s.root, "channels").(map[string]any) {
		pattern := regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(s.at(c, "address").(string)), `[^/]+`)
		if regexp.MustCompile("^" + pattern + "$").MatchString(topic) {
			return name, c
		}
	}
	return "", nil
}

// TestCloudMessagesAreAsDescribed gives the building commands of every kind,
// and holds each message that comes up to asyncapi.yaml, its own too.
func TestCloudMessagesAreAsDescribed(t *testing.T) {
	s := parseAsync(t)
	inTheCloud(t, func(t *testing.T, link *cloud.Link, got func() []cloud.Message) {
		down := func(level, id, data string) {
			t.Helper()
			topic := cloud.Topics{Gateway: "demo"}.Down(level)
			payload, err := cloud.Envelope{ID: id, Source: "backend", Type: cloud.TypeOf(level), Time: time.Now(), Data: json.RawMessage(data)}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			s.checkMessage(t, topic, payload)
			if err := link.Publish(t.Context(), cloud.Message{Topic: topic, Payload: payload, QoS: 1}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
		}
		time.Sleep(time.Until(time.Date(2000, 1, 1, 0, 0, 12, 0, time.UTC))) // a receipt tells how late its command was
		lock := `{"meeting_space_id":"` + agenttest.Aurora + `","device_type":"lock","action":"open"`
		down("command", "c1", lock+`}`)
		down("command", "c2", lock+`,"ttl_s":5,"value":"long"}`)
		down("command", "c3", lock+`,"expires_at":"1999-01-01T00:00:00Z"}`)
		s.checkMessage(t, "roomgate/v1/demo/down/command", cloud.Sign(ed25519.NewKeyFromSeed(make([]byte, 32)), []byte(`{}`)))
		down("enrol", "e1", `{"sealed":"AAAA"}`)
		down("ack", "a1", `{"sequence":10}`)
		down("replay", "r1", `{"from":2,"to":4}`)
		down("config", "g1", `{"revision":1,"spaces":[{"id":"`+agenttest.Aurora+`","capacity":9}],"permissions":[{"device_id":"aurora-light","action":"on","allow":["admin"]}],
			"users":[{"id":"ada","email":"ada@example.com","role":"admin"}],"unlock_codes":[{"meeting_space_id":"`+agenttest.Aurora+`","name":"Cleaning","code":"483920"}],
			"keys":[{"id":"app","name":"App","hash":"`+strings.Repeat("ab", 32)+`"}],
			"devices":[{"id":"aurora-fan","meeting_space_id":"`+agenttest.Aurora+`","poll":"7s"}],
			"rules":[{"id":"warm","name":"warm","trigger":{"event":"temperatureAlert"},"actions":[{"device_type":"fan","action":"on","meeting_space_id":"`+agenttest.Aurora+`"}]}]}`)
		time.Sleep(time.Minute)

		seen := map[string]bool{}
		for _, m := range got() {
			seen[s.checkMessage(t, m.Topic, m.Payload)] = true
		}
		for _, name := range []string{"presence", "heartbeat", "state", "event", "receipt", "message"} {
			if !seen[name] {
				t.Errorf("no %s came up", name)
			}
		}
		goldenReceipts(t, got())
	})
}

// checkMessage holds a message to its channel, and returns that one's name.
func (s spec) checkMessage(t *testing.T, topic string, payload []byte) string {
	t.Helper()
	name, channel := s.channel(topic)
	if channel == nil {
		t.Errorf("topic %s is not described", topic)
		return ""
	}
	var v any
	if err := json.Unmarshal(payload, &v); err != nil {
		t.Fatal(err)
	}
	schema := s.at(channel, "messages", name, "payload")
	if err := s.valid(schema, v, name); err != nil {
		t.Errorf("%v in %s", err, payload)
	}
	return name
}

// times are virtual, and still depend on when the building was ready.
var times = regexp.MustCompile(`"2000-01-01T[0-9:.]+Z"`)

// goldenReceipts holds the first receipts to their golden files.
func goldenReceipts(t *testing.T, all []cloud.Message) {
	t.Helper()
	for _, m := range all {
		var e cloud.Envelope
		var r device.Receipt
		if !strings.HasSuffix(m.Topic, "/receipt") || json.Unmarshal(m.Payload, &e) != nil || json.Unmarshal(e.Data, &r) != nil {
			continue
		}
		golden(t, "mqtt-receipt-"+r.CommandID+"-"+string(r.State), times.ReplaceAllString(string(e.Data), `"2000-01-01T00:00:00Z"`))
	}
}

func TestDescribedChannelsAreTheGateways(t *testing.T) {
	s := parseAsync(t)
	var down []string
	for _, c := range s.at(s.root, "channels").(map[string]any) {
		address := strings.ReplaceAll(s.at(c, "address").(string), "{gateway_id}", "g")
		isUp, level, _, ok := cloud.Topics{Gateway: "g"}.Parse(address)
		switch {
		case !ok:
			t.Errorf("%s is no topic of a gateway", address)
		case !isUp:
			down = append(down, level)
		}
	}
	slices.Sort(down)
	if want := cloud.DownLevels(); !slices.Equal(down, want) {
		t.Errorf("described down: %q, the gateway listens to %q", down, want)
	}
	for _, o := range s.at(s.root, "operations").(map[string]any) {
		isUp, level, _, _ := cloud.Topics{Gateway: "g"}.Parse(strings.ReplaceAll(s.at(o, "channel", "address").(string), "{gateway_id}", "g"))
		if isUp != (s.at(o, "action") == "send") {
			t.Errorf("%s: the wrong way round", level)
		}
	}
}
