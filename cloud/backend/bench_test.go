package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"roomgate/cloud"
	"roomgate/cloud/broker"
)

// BenchmarkConsume takes 20 000 rows of 20 gateways with the ledger on disk, beside a bare client that
// subscribes and stores nothing. Run it with -benchtime=1x; x-bare is the share of the bare client's
// speed, goal 0.8.
func BenchmarkConsume(b *testing.B) {
	k, err := broker.Open(broker.Options{Listen: "127.0.0.1:0", AllowAnonymousLoopback: true, Log: quiet})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() { _ = k.Run(ctx) })
	defer func() { stop(); loop.Wait() }()
	address := k.Addr().String()
	const gateways, rows = 20, 1000
	var ours, theirs time.Duration
	for n := 0; b.Loop(); n++ {
		ours += consumeOurs(b, address, fmt.Sprint("o", n, "-"), gateways, rows)
		theirs += consumeBare(b, address, fmt.Sprint("b", n, "-"), gateways, rows)
	}
	total := float64(gateways * rows * b.N)
	b.ReportMetric(total/ours.Seconds(), "rows/s")
	b.ReportMetric(total/theirs.Seconds(), "bare/s")
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "x-bare")
}

func consumeOurs(b *testing.B, address, prefix string, gateways, rows int) time.Duration {
	ledger, err := OpenFile(filepath.Join(b.TempDir(), "ledger.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer ledger.Close()
	back, err := Open(Options{URL: "mqtt://" + address, ClientID: prefix + "backend", Log: quiet})
	if err != nil {
		b.Fatal(err)
	}
	var came atomic.Int64
	ctx, stop := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() {
		_ = back.Consume(ctx, ledger, func(context.Context, Tx, Received) error { came.Add(1); return nil })
	})
	defer func() { stop(); loop.Wait() }()
	if err := back.Settle(ctx); err != nil {
		b.Fatal(err)
	}
	return fed(b, address, prefix, gateways, rows, &came)
}

func consumeBare(b *testing.B, address, prefix string, gateways, rows int) time.Duration {
	var came atomic.Int64
	c := mqtt.NewClient(mqtt.NewClientOptions().AddBroker("tcp://" + address).SetClientID(prefix + "bare"))
	if t := c.Connect(); !t.WaitTimeout(5*time.Second) || t.Error() != nil {
		b.Fatal(t.Error())
	}
	defer c.Disconnect(100)
	c.Subscribe("roomgate/v1/+/up/#", 1, func(mqtt.Client, mqtt.Message) { came.Add(1) }).Wait()
	return fed(b, address, prefix, gateways, rows, &came)
}

// fed publishes the rows of gateways as fast as the broker takes them, and returns how long it took until
// all have come.
func fed(b *testing.B, address, prefix string, gateways, rows int, came *atomic.Int64) time.Duration {
	c := mqtt.NewClient(mqtt.NewClientOptions().AddBroker("tcp://" + address).SetClientID(prefix + "feeder"))
	if t := c.Connect(); !t.WaitTimeout(5*time.Second) || t.Error() != nil {
		b.Fatal(t.Error())
	}
	defer c.Disconnect(100)
	filler := json.RawMessage(`{"eventType":"doorOpened","details":{"filler":"` + string(make400()) + `"}}`)
	var payloads [][]byte
	var topics []string
	for seq := range rows {
		for g := range gateways {
			id := fmt.Sprint(prefix, g)
			e := cloud.Envelope{ID: fmt.Sprint(id, "-", seq), Source: "roomgate/" + id, Type: "roomgate.event.doorOpened", Time: time.Now(), Sequence: uint64(seq + 1), BootID: "boot", Data: filler}
			p, err := e.Encode()
			if err != nil {
				b.Fatal(err)
			}
			payloads, topics = append(payloads, p), append(topics, cloud.Topics{Gateway: id}.Up(cloud.LevelEvent))
		}
	}
	start := time.Now()
	tokens := make(chan mqtt.Token, 100)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for t := range tokens {
			t.Wait()
		}
	})
	for i, p := range payloads {
		for int64(i)-came.Load() > 500 { // the broker drops what a client is too slow for
			time.Sleep(50 * time.Microsecond)
		}
		tokens <- c.Publish(topics[i], 1, false, p)
	}
	close(tokens)
	waiting.Wait()
	for end := time.Now().Add(time.Minute); came.Load() < int64(len(payloads)); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			b.Fatalf("%d of %d rows came", came.Load(), len(payloads))
		}
	}
	return time.Since(start)
}

// make400 is what a row has beside its envelope.
func make400() []byte {
	all := make([]byte, 400)
	for i := range all {
		all[i] = 'x'
	}
	return all
}
