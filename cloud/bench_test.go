package cloud

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"roomgate/cloud/broker"
)

// benchBroker is an embedded broker on a socket.
func benchBroker(b *testing.B) (address string) {
	b.Helper()
	k, err := broker.Open(broker.Options{Listen: "127.0.0.1:0", AllowAnonymousLoopback: true, Log: quiet})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	return k.Addr().String()
}

// bare is a client as it comes.
func bare(b *testing.B, address, id string) mqtt.Client {
	b.Helper()
	c := mqtt.NewClient(mqtt.NewClientOptions().AddBroker("tcp://" + address).SetClientID(id))
	if t := c.Connect(); !t.WaitTimeout(5*time.Second) || t.Error() != nil {
		b.Fatal(t.Error())
	}
	b.Cleanup(func() { c.Disconnect(250) })
	return c
}

// BenchmarkDrain drains 100 000 rows of 200 bytes after an outage, beside a
// bare client that publishes as many with the same window. Run it with
// -benchtime=1x; x-bare is the share of the bare client's speed, goal 0.9.
func BenchmarkDrain(b *testing.B) {
	const total, window = 100_000, 100
	address := benchBroker(b)
	payload := make([]byte, 200)
	var ours, theirs time.Duration
	for b.Loop() {
		ours += drainOurs(b, address, payload, total, window)
		theirs += drainBare(b, address, payload, total, window)
	}
	b.ReportMetric(float64(total*b.N)/ours.Seconds(), "rows/s")
	b.ReportMetric(float64(total*b.N)/theirs.Seconds(), "bare/s")
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "x-bare")
}

func drainOurs(b *testing.B, address string, payload []byte, total, window int) time.Duration {
	var box rows
	box.add(total)
	for i := range box.all {
		box.all[i].Payload = payload
	}
	link := NewLink(LinkOptions{URL: "mqtt://" + address, ClientID: "ours", Log: quiet})
	up := NewUplink(link, &box, UplinkOptions{Acks: AcksBroker, Window: window, ForgetEvery: time.Millisecond, Log: quiet})
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { _ = link.Run(ctx) })
	link.await(ctx)
	start := time.Now()
	loops.Go(func() { _ = up.Run(ctx) })
	for up.Stats().Acked < uint64(total) {
		time.Sleep(time.Millisecond)
	}
	took := time.Since(start)
	cancel()
	loops.Wait()
	return took
}

func drainBare(b *testing.B, address string, payload []byte, total, window int) time.Duration {
	c := bare(b, address, "bare")
	start := time.Now()
	tokens := make(chan mqtt.Token, window)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for t := range tokens {
			t.Wait()
		}
	})
	for range total {
		tokens <- c.Publish("up/event", 1, false, payload)
	}
	close(tokens)
	waiting.Wait()
	return time.Since(start)
}

// BenchmarkEcho is a command and its receipt: a bare client publishes, the
// other side answers, once with a link and once with a bare client. x-bare is
// the ratio of the medians.
func BenchmarkEcho(b *testing.B) {
	address := benchBroker(b)
	cloud := bare(b, address, "cloud")
	heard := make(chan struct{}, 1)
	cloud.Subscribe("up/+", 1, func(mqtt.Client, mqtt.Message) { heard <- struct{}{} }).Wait()
	payload := make([]byte, 200)

	echo := bare(b, address, "echo")
	echo.Subscribe("down/bare", 1, func(c mqtt.Client, m mqtt.Message) { c.Publish("up/bare", 1, false, m.Payload()) }).Wait()
	var link *Link
	link = NewLink(LinkOptions{URL: "mqtt://" + address, ClientID: "link", Log: quiet, Subscribe: []string{"down/link"},
		Receive: func(_ context.Context, m Message) error {
			link.publishAsync(Message{Topic: "up/link", Payload: m.Payload, QoS: 1}, func(error) {})
			return nil
		}})
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { _ = link.Run(ctx) })
	defer loops.Wait()
	defer cancel()
	link.await(ctx)

	trip := func(topic string) time.Duration {
		start := time.Now()
		cloud.Publish(topic, 1, false, payload)
		<-heard
		return time.Since(start)
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		for range 200 {
			ours, theirs = append(ours, trip("down/link")), append(theirs, trip("down/bare"))
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	b.ReportMetric(float64(ours[len(ours)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(theirs[len(theirs)/2].Microseconds()), "bare-p50-µs")
	b.ReportMetric(float64(ours[len(ours)/2])/float64(theirs[len(theirs)/2]), "x-bare")
	b.ReportMetric(float64(ours[len(ours)*99/100].Microseconds()), "p99-µs")
}
