package agent

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/cloud"
	"roomgate/drivers"
)

// roomLine leads to a room broker, and can be cut.
type roomLine struct {
	noBuses
	open func(ctx context.Context, network, address string) (net.Conn, error)

	mu   sync.Mutex
	conn net.Conn
	away bool
}

func (l *roomLine) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return nil, fmt.Errorf("no route")
	}
	conn, err := l.open(ctx, network, address)
	l.conn = conn
	return conn, err
}

func (l *roomLine) cut(away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = away
	if l.conn != nil {
		_ = l.conn.Close()
	}
}

// TestOrderOfTheRoomDoesNotWait: what somebody ordered at the room broker while
// the gateway was not there is over when it comes back.
func TestOrderOfTheRoomDoesNotWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, _ := openHeaven(t)
		line := &roomLine{open: h.dial}
		r := openRig(t, rigOptions{dial: noCloud, yaml: strings.Replace(withDoor, "clock:",
			"broker: {listen: '127.0.0.1:1885', home_assistant: {publish: true, commands: true, doors: true}}\nclock:", 1)})
		r.options.Buses = line
		ha := cloud.NewLink(cloud.LinkOptions{URL: "mqtt://room", ClientID: "ha", Dial: h.dial, Log: slog.New(slog.DiscardHandler)})
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { _ = ha.Run(ctx) })
		defer running.Wait()
		defer cancel()
		r.run()
		r.wait(5 * time.Second)
		order := func(payload string) {
			t.Helper()
			if err := ha.Publish(t.Context(), cloud.Message{Topic: "roomgate/room/test/door-1/set", Payload: []byte(payload), QoS: 1}); err != nil {
				t.Fatal(err)
			}
			r.wait(time.Second)
		}
		order("close")
		if done := r.bench["door-1"].effects(); !slices.Equal(done, []string{drivers.ActClose}) {
			t.Fatalf("an order while the gateway is there: %q", done)
		}
		line.cut(true)
		r.wait(time.Second)
		order("open")
		r.wait(47 * time.Second)
		line.cut(false)
		r.wait(3 * time.Minute)
		order("close")
		if done := r.bench["door-1"].effects(); slices.Contains(done, drivers.ActOpen) || len(done) != 2 {
			t.Errorf("the lock was told %q, want the order that waited left out", done)
		}
	})
}
