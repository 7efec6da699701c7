package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"go.etcd.io/bbolt"

	"roomgate/agent/config"
	"roomgate/cloud"
	"roomgate/cloud/broker"
)

// relay is the line that BenchmarkCommandToLine watches; its lock holds, so
// that no timer moves it.
const relay = "borealis.lock.relay"

// BenchmarkCommandToLine is the time from the cloud's publish to the relay's
// line, the command stored in between. It stands beside a bare client that
// echoes on the same broker and one bare transaction on the same disk: the
// goal is the echo and 1.2 transactions together.
func BenchmarkCommandToLine(b *testing.B) {
	address := startBroker(b)
	building := Start(b, Options{Settings: []config.Setting{
		{Key: "cloud.url", Value: "mqtt://" + address}, {Key: "cloud.acks", Value: config.AcksBroker}}})
	client := connect(b, address, "backend")
	topics := cloud.Topics{Gateway: "demo"}
	done := make(chan string, 16)
	subscribe(b, client, topics.Up("receipt"), func(m mqtt.Message) { done <- finished(m.Payload()) })
	echo := startEcho(b, address, client)
	tx := openTransactions(b)
	Await(b, "the gateway is connected", func() bool { return building.Health.Report().CloudConnected })

	var ours, echoes, writes []time.Duration
	actions := []string{"open", "close"}
	for i := 0; b.Loop(); i++ {
		id := fmt.Sprint("bench-", i)
		start := time.Now()
		publish(b, client, topics.Down("command"), order(id, actions[i%2]))
		for <-done != id {
		}
		ours = append(ours, building.driven(b).Sub(start))
		echoes = append(echoes, echo())
		writes = append(writes, tx(b))
	}
	limit := median(echoes) + median(writes)*12/10
	b.ReportMetric(float64(median(ours).Microseconds()), "p50-µs")
	b.ReportMetric(float64(median(echoes).Microseconds()), "echo-p50-µs")
	b.ReportMetric(float64(median(writes).Microseconds()), "tx-p50-µs")
	b.ReportMetric(median(ours).Seconds()/limit.Seconds(), "of-limit")
}

// driven is when the relay's line was last driven.
func (b *Building) driven(t testing.TB) time.Time {
	t.Helper()
	log := b.World.Log()
	for _, step := range slices.Backward(log) {
		if step.Line == relay {
			return step.At
		}
	}
	t.Fatal("the line was never driven")
	return time.Time{}
}

func startBroker(b *testing.B) string {
	b.Helper()
	cloudBroker, err := broker.Open(broker.Options{Listen: "127.0.0.1:0", AllowAnonymousLoopback: true})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- cloudBroker.Run(ctx) }()
	b.Cleanup(func() { cancel(); <-ended })
	return cloudBroker.Addr().String()
}

func connect(b *testing.B, address, id string) mqtt.Client {
	b.Helper()
	client := mqtt.NewClient(mqtt.NewClientOptions().AddBroker("tcp://" + address).SetClientID(id).SetProtocolVersion(4).SetOrderMatters(false))
	if token := client.Connect(); !token.WaitTimeout(5*time.Second) || token.Error() != nil {
		b.Fatal("cannot connect: ", token.Error())
	}
	b.Cleanup(func() { client.Disconnect(100) })
	return client
}

func subscribe(b *testing.B, client mqtt.Client, topic string, f func(mqtt.Message)) {
	b.Helper()
	token := client.Subscribe(topic, 1, func(_ mqtt.Client, m mqtt.Message) { f(m) })
	if !token.WaitTimeout(5*time.Second) || token.Error() != nil {
		b.Fatal("cannot subscribe: ", token.Error())
	}
}

func publish(b *testing.B, client mqtt.Client, topic string, payload []byte) {
	b.Helper()
	if token := client.Publish(topic, 1, false, payload); !token.WaitTimeout(5*time.Second) || token.Error() != nil {
		b.Fatal("cannot publish: ", token.Error())
	}
}

// startEcho starts the bare client and returns what measures one round.
func startEcho(b *testing.B, address string, client mqtt.Client) func() time.Duration {
	b.Helper()
	back := make(chan struct{}, 1)
	bare := connect(b, address, "echo")
	subscribe(b, client, "echo/up", func(mqtt.Message) { back <- struct{}{} })
	subscribe(b, bare, "echo/down", func(m mqtt.Message) { bare.Publish("echo/up", 1, false, m.Payload()) })
	payload := order("echo", "open")
	return func() time.Duration {
		start := time.Now()
		client.Publish("echo/down", 1, false, payload)
		<-back
		return time.Since(start)
	}
}

// openTransactions returns what measures one durable transaction.
func openTransactions(b *testing.B) func(*testing.B) time.Duration {
	b.Helper()
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	n := 0
	return func(b *testing.B) time.Duration {
		start := time.Now()
		n++
		err := db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("rows"))
			if err != nil {
				return err
			}
			return bucket.Put(fmt.Appendf(nil, "%08d", n), make([]byte, 300))
		})
		if err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
}

func order(id, action string) []byte {
	data, _ := json.Marshal(map[string]any{"meeting_space_id": Borealis, "device_type": "lock", "action": action})
	payload, _ := cloud.Envelope{ID: id, Source: "backend", Type: "roomgate.command", Time: time.Now(), Data: data}.Encode()
	return payload
}

// finished is the command of a final receipt, or empty.
func finished(payload []byte) string {
	var e struct {
		Data struct {
			ID    string `json:"command_id"`
			State string `json:"state"`
		} `json:"data"`
	}
	if json.Unmarshal(payload, &e) != nil || e.Data.State == "accepted" {
		return ""
	}
	return e.Data.ID
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
