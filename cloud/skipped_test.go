package cloud

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"roomgate/cloud/internal/frame"
)

// tooLarge is one that no link reads.
var tooLarge = make([]byte, 20<<20)

// A broker without a limit may hold messages that are too large, retained ones and with a long topic, too:
// what follows them comes, and they do not come again.
func TestTooLargeIsReadPast(t *testing.T) {
	t.Parallel()
	url := mosquitto(t)
	o := mqtt.NewClientOptions().AddBroker("tcp://" + strings.TrimPrefix(url, "mqtt://")).SetClientID("other")
	other := mqtt.NewClient(o)
	if token := other.Connect(); token.Wait() && token.Error() != nil {
		t.Fatal(token.Error())
	}
	defer other.Disconnect(100)
	send := func(topic string, retained bool, payload []byte) {
		t.Helper()
		if token := other.Publish(topic, 1, retained, payload); !token.WaitTimeout(time.Minute) || token.Error() != nil {
			t.Fatal(token.Error())
		}
	}
	send("up/retained", true, tooLarge)
	var log bytes.Buffer
	came := make(chan string, 10)
	down, up := make(chan error, 10), make(chan bool, 10)
	link := func() (stop func()) {
		l := NewLink(LinkOptions{URL: url, ClientID: "backend", Subscribe: []string{"up/#"}, Log: slog.New(slog.NewTextHandler(&log, nil)),
			Receive: func(_ context.Context, m Message) error { came <- m.Topic; return nil },
			Up:      func(context.Context) { up <- true }, Down: func(err error) { down <- err }})
		stop = run(t, l.Run)
		<-up
		return stop
	}
	stop := link()
	defer func() { stop() }()
	next := func(want string) {
		t.Helper()
		select {
		case got := <-came:
			if got != want {
				t.Errorf("%s comes: want %s", got, want)
			}
		case err := <-down:
			t.Fatal("the connection is lost:", err)
		case <-time.After(time.Minute):
			t.Fatalf("%s does not come", want)
		}
	}
	send("up/first", false, []byte("x"))
	next("up/first")
	send("up/event", false, tooLarge)
	send("up/"+strings.Repeat("x", 2*MaxTopic), false, []byte("x"))
	send("up/second", false, []byte("x"))
	next("up/second")
	stop()
	<-down
	if said := log.String(); strings.Count(said, "too large") != 3 || !strings.Contains(said, "topic=up/event bytes=20971532") || !strings.Contains(said, "max_packet_size") {
		t.Errorf("the log says %.3000s", said)
	}
	log.Reset()
	stop = link()
	send("up/third", false, []byte("x"))
	next("up/third")
	stop()
	if said := log.String(); strings.Contains(said, "topic=up/event") {
		t.Errorf("it comes again: %.3000s", said)
	}
}

// The log has a bound, and says how many it does not name.
func TestTooLargeInTheLog(t *testing.T) {
	inBubble(t, func(t *testing.T, _ context.Context) {
		var log bytes.Buffer
		l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Log: slog.New(slog.NewTextHandler(&log, nil)), Dial: (&net.Dialer{}).DialContext})
		for i := range 300 {
			l.skipped(frame.Skipped{Topic: fmt.Sprint("up/", i), Bytes: maxPacket + 1})
		}
		time.Sleep(10 * time.Second)
		l.skipped(frame.Skipped{Topic: "up/last", Bytes: maxPacket + 1})
		if said := log.String(); strings.Count(said, "\n") != 11 || !strings.Contains(said, "others=290") {
			t.Errorf("the log says %s", said)
		}
	})
}
