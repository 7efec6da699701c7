package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// serve runs a broker until the function it returns is called.
func serve(t *testing.T, b *Broker) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

var local = Options{AllowAnonymousLoopback: true}

func TestPublishReachesSubscribers(t *testing.T) {
	bubble(t, local, func(t *testing.T, b *Broker) {
		c := join(t, b, hello("k"))
		c.subscribe(1, "a/#", 1)
		if err := b.Publish("a/b", []byte("kept"), true, 1); err != nil {
			t.Fatal(err)
		}
		if got := c.next(); got != "kept" {
			t.Errorf("got %q", got)
		}
		late := join(t, b, hello("late"))
		late.subscribe(1, "a/b", 0)
		if got := late.next(); got != "kept" {
			t.Errorf("who came later got %q", got)
		}
		for _, topic := range []string{"", "a/#", strings.Repeat("x", maxTopic+1)} {
			if b.Publish(topic, nil, false, 0) == nil {
				t.Errorf("topic %.10q was accepted", topic)
			}
		}
	})
}

// A subscriber that reads nothing costs nobody else anything.
func TestStalledSubscriberStopsNobody(t *testing.T) {
	bubble(t, local, func(t *testing.T, b *Broker) {
		stalled := join(t, b, hello("stalled"))
		stalled.subscribe(1, "t", 1)
		good := join(t, b, hello("good"))
		good.subscribe(1, "t", 1)
		p := join(t, b, hello("p"))
		start := time.Now()
		big := strings.Repeat("x", 10_000)
		for i := range 1000 {
			payload := fmt.Sprint(i, " ", big)
			if !p.publish(uint16(i+1), "t", payload, false) {
				t.Fatalf("publish %d was not acknowledged", i)
			}
			if got := good.next(); got != payload {
				t.Fatalf("message %d is %.20q", i, got)
			}
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("1000 messages took %v beside a stalled subscriber", took)
		}
		if synctest.Wait(); len(b.conns) != 2 {
			t.Error("10 MB wait for the stalled subscriber")
		}
		time.Sleep(2 * writeTime)
		if !stalled.closed() {
			t.Error("the stalled subscriber is still there")
		}
	})
}

// The router has one table of packet ids for both directions. What a client
// asks must not touch what waits for that client.
func TestPacketIDsOfBothSidesAreApart(t *testing.T) {
	bubble(t, local, func(t *testing.T, b *Broker) {
		p := hello("k")
		p.CleanSession = false
		k := join(t, b, p)
		k.subscribe(1, "down", 1)
		_ = k.conn.Close()
		synctest.Wait()
		for i := range 5 {
			_ = b.Publish("down", fmt.Append(nil, i), false, 1)
		}
		synctest.Wait()
		k = join(t, b, p)
		for id := range uint16(5) {
			if !k.publish(id+1, "up", "x", false) {
				t.Fatalf("publish with id %d was not acknowledged", id+1)
			}
			if code := k.subscribe(id+1, "down", 1); code != 1 {
				t.Fatalf("subscription with id %d got code %#x", id+1, code)
			}
		}
		_ = k.conn.Close()
		synctest.Wait()
		k = join(t, b, p)
		got := map[string]bool{}
		for range 5 {
			got[k.next()] = true
		}
		if len(got) != 5 {
			t.Errorf("of five messages that waited %v came", got)
		}
	})
}

// On a board without a battery the clock starts in 1970.
func TestNothingExpiresWhenTheClockIsSet(t *testing.T) {
	bubble(t, local, func(t *testing.T, b *Broker) {
		_ = b.Publish("state", []byte("kept"), true, 1)
		synctest.Wait()
		pk, _ := b.server.Topics.Retained.Get("state")
		pk.Created = 0
		b.server.Topics.Retained.Add("state", pk)
		time.Sleep(3 * time.Second)
		c := join(t, b, hello("k"))
		c.subscribe(1, "state", 1)
		if got := c.next(); got != "kept" {
			t.Errorf("got %q", got)
		}
	})
}

func TestRetainedAreBounded(t *testing.T) {
	bubble(t, local, func(t *testing.T, b *Broker) {
		c := join(t, b, hello("k"))
		for i := range maxRetained + 100 {
			if !c.publish(uint16(i%60000+1), fmt.Sprint("r/", i), "x", true) {
				t.Fatalf("publish %d was not acknowledged", i)
			}
		}
		if n := b.server.Topics.Retained.Len(); n > maxRetained+30 { // and the router's own
			t.Errorf("%d messages are kept", n)
		}
		c.publish(1, "r/0", "", true)
		c.publish(2, "r/new", "x", true)
		if _, ok := b.server.Topics.Retained.Get("r/new"); !ok {
			t.Error("there is no room although one was cleared")
		}
		big := strings.Repeat("x", 60_000)
		for i := range 400 {
			c.publish(3, fmt.Sprint("r/", i+1), big, true)
		}
		if b.retained.bytes > b.o.Budget/2 {
			t.Errorf("%d bytes are kept", b.retained.bytes)
		}
		_ = join(t, b, will(hello("w"), "r/will")).conn.Close()
		synctest.Wait()
		if _, ok := b.server.Topics.Retained.Get("r/will"); ok {
			t.Error("a will was kept beyond the bound")
		}
	})
}

func TestSessionsAreBounded(t *testing.T) {
	bubble(t, Options{AllowAnonymousLoopback: true, MaxClients: 5}, func(t *testing.T, b *Broker) {
		for i := range 40 {
			p := hello(fmt.Sprint("k", i))
			p.CleanSession = false
			c := join(t, b, p)
			c.subscribe(1, "t", 1)
			_ = c.conn.Close()
			time.Sleep(2 * time.Second)
		}
		if n := b.server.Clients.Len(); n > 12 {
			t.Errorf("%d sessions are kept", n)
		}
		if n := b.server.Info.Subscriptions; n > 12 {
			t.Errorf("%d subscriptions are kept", n)
		}
	})
}

func TestQoS2(t *testing.T) {
	bubble(t, local, func(t *testing.T, b *Broker) {
		s := join(t, b, hello("s"))
		s.subscribe(1, "t", 1)
		c := join(t, b, hello("c"))
		c.send(message(5, "t", "once", 2, false))
		if c.read() == nil {
			t.Fatal("no PUBREC")
		}
		_, _ = c.conn.Write([]byte{0x62, 2, 0, 5})
		if c.read() == nil {
			t.Fatal("no PUBCOMP")
		}
		if got := s.next(); got != "once" {
			t.Errorf("got %q", got)
		}
	})
}

func TestCloseUnderChurn(t *testing.T) {
	b := open(t, Options{Listen: "127.0.0.1:0", AllowAnonymousLoopback: true})
	stop := serve(t, b)
	ctx, cancel := context.WithCancel(t.Context())
	var churn sync.WaitGroup
	for i := range 8 {
		churn.Go(func() {
			for ctx.Err() == nil {
				conn, err := net.Dial("tcp", b.Addr().String())
				if err != nil {
					return
				}
				c := &client{t, conn}
				if c.connect(will(hello(fmt.Sprint("k", i%4)), "w")) == 0 {
					c.subscribe(1, "w", 1)
				}
				_ = conn.Close()
			}
		})
	}
	time.Sleep(100 * time.Millisecond)
	stop()
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	cancel()
	churn.Wait()
	if err := b.Publish("t", nil, false, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("Publish after Close: %v", err)
	}
	near, far := net.Pipe()
	defer near.Close()
	if err := b.Serve(far); !errors.Is(err, ErrClosed) {
		t.Errorf("Serve after Close: %v", err)
	}
}

func TestMosquittoTools(t *testing.T) {
	for _, tool := range []string{"mosquitto_pub", "mosquitto_sub"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed (Debian: mosquitto-clients), so it is not tried with this broker", tool)
		}
	}
	b := open(t, Options{Listen: "127.0.0.1:0", AllowAnonymousLoopback: true})
	defer serve(t, b)()
	host, port, _ := net.SplitHostPort(b.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for qos := range 3 {
		pub := exec.CommandContext(ctx, "mosquitto_pub", "-h", host, "-p", port, "-q", fmt.Sprint(qos), "-r", "-t", fmt.Sprint("t/", qos), "-m", "hello")
		if out, err := pub.CombinedOutput(); err != nil {
			t.Fatalf("mosquitto_pub: %v %s", err, out)
		}
	}
	sub := exec.CommandContext(ctx, "mosquitto_sub", "-h", host, "-p", port, "-q", "2", "-t", "t/#", "-C", "3", "-W", "15", "-F", "%t %p")
	out, err := sub.CombinedOutput()
	if err != nil || strings.Count(string(out), "hello") != 3 {
		t.Errorf("mosquitto_sub: %v %s", err, out)
	}
}

// A gateway that says farewell and is followed by the end of the broker: who
// subscribed still hears it.
func TestCloseHandsOnWhatWasAcknowledged(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			b := open(t, local)
			reader, writer := join(t, b, hello("reader")), join(t, b, hello("writer"))
			reader.subscribe(1, "presence", 1)
			heard := make(chan string, 1)
			go func() { heard <- reader.next() }()
			writer.publish(1, "presence", "offline", true)
			_ = writer.conn.Close()
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			if got := <-heard; got != "offline" {
				t.Fatalf("reader heard %q", got)
			}
		})
	}
}
