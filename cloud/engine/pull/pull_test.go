package pull

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"roomgate/cloud"
)

// newServer is a NATS server in this process.
func newServer(t *testing.T) string {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("NATS does not answer")
	}
	return s.ClientURL()
}

// heard is what backends were handed: by gateway, in the order in which it was taken.
type heard struct {
	mu    sync.Mutex
	rows  map[string][]string
	by    map[string]string // the backend that had a gateway last
	stuck map[string]bool   // backends that take nothing
}

// backendOf takes part, and takes each message after a moment.
func (h *heard) backendOf(t *testing.T, url, name string) (end func()) {
	config, err := os.ReadFile(filepath.Join("..", "..", "..", "configs", "nats", "up.json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{URL: url, Name: name, Stream: config, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() {
		_ = s.Run(ctx, func(_ context.Context, m cloud.Message, taken func()) {
			gateway, _, _, _, _ := cloud.ParseTopic(m.Topic)
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.stuck[name] {
				return
			}
			h.rows[gateway] = append(h.rows[gateway], string(m.Payload))
			h.by[gateway] = name
			taken()
		}, func(string) {})
	})
	return func() { stop(); loop.Wait(); s.Close() }
}

// Two backends share the gateways out; one ends with messages that it has not taken. What each
// gateway sends is taken once, in its order, by whoever has it.
func TestTakeover(t *testing.T) {
	url := newServer(t)
	h := &heard{rows: map[string][]string{}, by: map[string]string{}, stuck: map[string]bool{}}
	endFirst := h.backendOf(t, url, "first")
	endSecond := h.backendOf(t, url, "second")
	defer endSecond()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const gateways, rows = 40, 30
	sent := 0
	send := func(n int) {
		for range n {
			for g := range gateways {
				if err := conn.Publish(fmt.Sprintf("roomgate.v1.g//%d.up.event", g), []byte(fmt.Sprint(sent))); err != nil {
					t.Fatal(err)
				}
			}
			sent++
		}
		if err := conn.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	send(rows)
	h.await(t, gateways, rows)
	if shared := h.had(); len(shared) != 2 {
		until(t, "one backend has all gateways", func() bool { send(1); return len(h.had()) == 2 })
		h.await(t, gateways, sent)
	}
	h.mu.Lock()
	h.stuck["first"] = true
	h.mu.Unlock()
	send(rows)
	endFirst()
	send(rows)
	h.await(t, gateways, sent)
	if names := h.had(); len(names) != 1 || !names["second"] {
		t.Errorf("%v have gateways: want second", names)
	}
}

// had are the backends that took something of a gateway last.
func (h *heard) had() map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := map[string]bool{}
	for name := range maps.Values(h.by) {
		names[name] = true
	}
	return names
}

// await waits until so many rows of each gateway came, and wants each once and in its place.
func (h *heard) await(t *testing.T, gateways, rows int) {
	t.Helper()
	until(t, fmt.Sprintf("%d rows of each of %d gateways did not come", rows, gateways), func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		for g := range gateways {
			if len(h.rows[fmt.Sprintf("g.%d", g)]) < rows {
				return false
			}
		}
		return true
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	var want []string
	for i := range rows {
		want = append(want, fmt.Sprint(i))
	}
	for gateway, got := range h.rows {
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("%s: %v came", gateway, got)
		}
	}
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatal(what)
}
