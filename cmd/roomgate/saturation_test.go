package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/cloud/backend"
)

// auroraLock is the meeting space whose lock the cloud opens.
const auroraLock = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01"

// commander is a backend that gives commands and waits for them to be done.
type commander struct {
	*backend.Backend
	mu   sync.Mutex
	done map[string]chan time.Time
}

func newCommander(t *testing.T, address string) *commander {
	t.Helper()
	b, err := backend.Open(backend.Options{URL: "mqtt://" + address, ClientID: "saturation"})
	if err != nil {
		t.Fatal(err)
	}
	c := &commander{Backend: b, done: map[string]chan time.Time{}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- b.Consume(ctx, backend.NewMemory(), func(_ context.Context, _ backend.Tx, e backend.Received) error {
			var r device.Receipt
			if e.Type == "roomgate.receipt" && json.Unmarshal(e.Data, &r) == nil && r.State == device.Done {
				select {
				case c.of(r.CommandID) <- time.Now():
				default:
				}
			}
			return nil
		})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return c
}

// of is where it is told when a command is done.
func (c *commander) of(id string) chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done[id] == nil {
		c.done[id] = make(chan time.Time, 1)
	}
	return c.done[id]
}

// p50 gives n commands to the lock, one after the other, and returns how long the
// median took to be done.
func (c *commander) p50(t *testing.T, n int) time.Duration {
	t.Helper()
	var took []time.Duration
	for i := range n {
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		start := time.Now()
		order := backend.Command{MeetingSpaceID: auroraLock, DeviceType: "lock", Action: []string{"open", "close"}[i%2], TTL: 50}
		id, err := c.Send(ctx, "demo", order)
		for err != nil && i == 0 && ctx.Err() == nil { // it is connecting still
			time.Sleep(20 * time.Millisecond)
			id, err = c.Send(ctx, "demo", order)
		}
		if err != nil {
			t.Fatal(err)
		}
		select {
		case at := <-c.of(id):
			took = append(took, at.Sub(start))
		case <-ctx.Done():
			t.Fatal("the command is not done")
		}
		cancel()
	}
	slices.Sort(took)
	return took[n/2]
}

// saturate asks the same on so many connections, each again as soon as it is
// answered, until it is ended.
func saturate(t *testing.T, address string, clients int, request string) (answered *atomic.Int64, end func()) {
	t.Helper()
	answered = &atomic.Int64{}
	var all sync.WaitGroup
	var conns []net.Conn
	for range clients {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		all.Go(func() {
			answers := bufio.NewReader(conn)
			for {
				if _, err := io.WriteString(conn, request); err != nil {
					return
				}
				r, err := http.ReadResponse(answers, nil)
				if err != nil {
					return
				}
				if _, err := io.Copy(io.Discard, r.Body); err == nil {
					answered.Add(1)
				}
			}
		})
	}
	return answered, func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
		all.Wait()
	}
}

// asks is a request with a header, if there is one, and a body of JSON, if there is one.
func asks(method, path, header, body string) string {
	request := method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	if header != "" {
		request += header + "\r\n"
	}
	if body != "" {
		request += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return request + "\r\n" + body
}

// TestClientsDoNotDelayTheCloud: 500 clients ask as fast as they are answered. What
// the cloud commands a lock is done all the same, and the clients are answered.
func TestClientsDoNotDelayTheCloud(t *testing.T) {
	if !measured {
		t.Skip("it measures: make test-all and make faults have it")
	}
	d := startDemo(t)
	c := newCommander(t, "127.0.0.1:"+d.ports["1884"])
	web := "127.0.0.1:" + d.ports["8080"]
	c.p50(t, 3) // the first ones connect
	idle := c.p50(t, 21)
	key := "X-API-Key: " + demoKey
	booking := `{"meeting_space_id":"` + auroraLock + `","start_time":"2030-01-01T00:00:00Z","minutes":30}`
	for _, load := range []struct{ name, request string }{
		{"events", asks("GET", "/devices/events?limit=200", key, "")},
		{"spaces", asks("GET", "/meetingspace/get_meeting_space", key, "")},
		{"status", asks("POST", "/devices/"+auroraLock+"/status", key, `{"device_type":"all"}`)},
		{"wrong keys", asks("GET", "/bookings", "X-API-Key: wrong", "")},
		{"wrong codes", asks("POST", "/api/v1/auth/otp/verify", "", `{"email":"eve@example.com","otp":"123456"}`)},
		{"no such path", asks("GET", "/nothing", "", "")},
		{"health", asks("GET", "/healthz", "", "")},
		{"bookings", asks("POST", "/bookings", key, booking)},
		{"commands", asks("POST", "/devices/"+auroraLock+"/action", key, `{"device_type":"light","action":"on"}`) +
			asks("POST", "/devices/"+auroraLock+"/action", key, `{"device_type":"light","action":"off"}`)},
		{"commands to the door", asks("POST", "/devices/"+auroraLock+"/action", key, `{"device_type":"lock","action":"close"}`)},
	} {
		t.Run(load.name, func(t *testing.T) {
			answered, end := saturate(t, web, 500, load.request)
			start := time.Now()
			loaded := c.p50(t, 21)
			rate := float64(answered.Load()) / time.Since(start).Seconds()
			end()
			t.Logf("a command takes %v idle and %v under load, with %.0f answers in a second", idle, loaded, rate)
			if most := idle + time.Second; loaded > most {
				t.Errorf("a command takes %v, want at most %v", loaded, most)
			}
		})
	}
}
