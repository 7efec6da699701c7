package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/cloud/backend"
)

// stranger is somebody who asks a demo from an address of his own.
type stranger struct {
	t  *testing.T
	d  *runningDemo
	mu sync.Mutex
	// open are the connections that he leaves open.
	open []net.Conn
}

// dial connects from an address of this machine. Nil: the gateway would not have him.
func (h *stranger) dial(from byte) net.Conn {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, from)}, Timeout: 5 * time.Second}
	conn, err := d.Dial("tcp", "127.0.0.1:"+h.d.ports["8080"])
	if err != nil {
		return nil
	}
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = append(h.open, conn)
	return conn
}

// leaves sends something on so many connections, and then nothing more. They are of
// two addresses, so that he has as many as there may be.
func (h *stranger) leaves(n int, says string) {
	var all sync.WaitGroup
	for i := range n {
		conn := h.dial(byte(2 + i%2))
		if conn == nil {
			continue
		}
		all.Go(func() {
			_ = conn.SetWriteDeadline(time.Now().Add(3 * time.Second))
			_, _ = io.WriteString(conn, says)
		})
	}
	all.Wait()
}

// asks sends requests on so many connections, one after the other, and reads the
// answers.
func (h *stranger) asks(n int, long time.Duration, requests []string) {
	var all sync.WaitGroup
	for i := range n {
		conn := h.dial(9)
		if conn == nil {
			continue
		}
		all.Go(func() {
			answers := bufio.NewReader(conn)
			for end, k := time.Now().Add(long), i; time.Now().Before(end); k++ {
				if _, err := io.WriteString(conn, requests[k%len(requests)]); err != nil {
					return
				}
				r, err := http.ReadResponse(answers, nil)
				if err != nil {
					return
				}
				if _, err = io.Copy(io.Discard, r.Body); err != nil || r.Close {
					return
				}
			}
		})
	}
	all.Wait()
}

// begun is a request with a body of so many bytes of which all but the last are there.
func begun(method, path, kind string, size int) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: h\r\nX-API-Key: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", method, path, demoKey, kind, size) +
		strings.Repeat("[", size-1)
}

// hostileJSON are bodies as large as may be that cost most to read.
func hostileJSON() (bodies []string) {
	const size = 60 << 10
	key := "X-API-Key: " + demoKey
	var members strings.Builder
	for i := 0; members.Len() < size-20; i++ {
		fmt.Fprintf(&members, `"%x":0,`, i)
	}
	for _, body := range []string{
		strings.Repeat("[", size),
		strings.Repeat(`{"a":`, size/5),
		`{"value":` + strings.Repeat("[", size/2) + strings.Repeat("]", size/2-20) + "}",
		`{"value":[` + strings.Repeat("0,", size/2-20) + "0]}",
		`{"value":[` + strings.Repeat("{},", size/3-20) + "0]}",
		`{` + members.String() + `"z":0}`,
		`{"value":"` + strings.Repeat(`\ud83d\ude00`, size/12-4) + `"}`,
		`{"value":1` + strings.Repeat("0", size-20) + "}",
		`{"value":1e` + strings.Repeat("9", size-20) + "}",
	} {
		for _, path := range []string{"/devices/" + auroraLock + "/action", "/bookings", "/bookings/bulk", "/rules", "/messages", "/api/v1/webhooks", "/v2.0/rules"} {
			bodies = append(bodies, asks("POST", path, key, body))
		}
	}
	return bodies
}

// hostileCloud sends what is hard to read on every level, as large as a broker lets
// it through.
func hostileCloud(t *testing.T, d *runningDemo) {
	b, err := backend.Open(backend.Options{URL: "mqtt://127.0.0.1:" + d.ports["1884"], ClientID: "hostile"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	var runs sync.WaitGroup
	runs.Go(func() { _ = b.Run(ctx) })
	defer runs.Wait()
	defer cancel()
	const size = 50 << 10
	for _, level := range []string{"command", "config", "booking", "message", "replay", "ack", "release", "claim", "nothing"} {
		for _, data := range []string{
			strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
			strings.Repeat(`{"a":`, 5_000) + "0" + strings.Repeat("}", 5_000),
			`{"value":[` + strings.Repeat("{},", size/3-20) + "0]}",
			`{"rules":"` + strings.Repeat(`a: &a [*a, *a]\n`, size/16) + `"}`,
			`{"rules":"` + strings.Repeat("- ", size/2-10) + `"}`,
			`{"configuration":"` + strings.Repeat("[", size) + `"}`,
			`{"id":"` + strings.Repeat("i", size) + `"}`,
		} {
			for range 10 {
				_, err := b.Push(ctx, "demo", level, json.RawMessage(data))
				for i := 0; err != nil && i < 100; i++ { // it is connecting still
					time.Sleep(20 * time.Millisecond)
					_, err = b.Push(ctx, "demo", level, json.RawMessage(data))
				}
				if err != nil {
					t.Fatalf("%s: %v", level, err)
				}
			}
		}
	}
}

// TestMemoryOfAGatewayThatIsAsked: guests and the cloud send what costs most memory,
// as much at once as there may be. The whole demo stays below the limit of the
// gateway's unit, and serves others afterwards.
func TestMemoryOfAGatewayThatIsAsked(t *testing.T) {
	if !measured {
		t.Skip("it measures: make test-all and make faults have it")
	}
	key := "X-API-Key: " + demoKey
	events := asks("GET", "/devices/events?limit=200", key, "")
	stream := asks("GET", "/devices/events", key+"\r\nAccept: text/event-stream\r\nLast-Event-ID: 0", "")
	lights := []string{asks("POST", "/devices/"+auroraLock+"/action", key, `{"device_type":"light","action":"on"}`),
		asks("POST", "/devices/"+auroraLock+"/action", key, `{"device_type":"light","action":"off"}`)}
	const all = 2048
	for _, attack := range []struct {
		name string
		run  func(h *stranger)
	}{
		{"heads that do not end", func(h *stranger) {
			h.leaves(all, "GET / HTTP/1.1\r\nHost: h\r\nX: "+strings.Repeat("x", 15<<10))
		}},
		{"many headers", func(h *stranger) {
			h.leaves(all, "GET / HTTP/1.1\r\nHost: h\r\n"+strings.Repeat("X:\r\n", 3<<10))
		}},
		{"bodies that do not end", func(h *stranger) {
			h.leaves(all, begun("POST", "/bookings", "application/json", 64<<10))
		}},
		{"pictures that do not end", func(h *stranger) {
			h.leaves(300, begun("POST", "/meetingspace/"+demoAurora+"/screenshot", "image/png", 4<<20))
		}},
		{"JSON that is deep and long", func(h *stranger) { h.asks(200, 3*time.Second, hostileJSON()) }},
		{"answers that nobody reads", func(h *stranger) {
			h.asks(50, 2*time.Second, lights) // so that there is something to answer
			h.leaves(all, strings.Repeat(events, 20))
			h.asks(1, 8*time.Second, []string{events}) // meanwhile they are answered
		}},
		{"pages that nobody reads", func(h *stranger) {
			h.leaves(all, strings.Repeat(asks("GET", "/v2.0/openapi.yaml", "", "")+asks("GET", "/openapi", "", ""), 10))
			h.asks(1, 4*time.Second, []string{events})
		}},
		{"streams that nobody reads", func(h *stranger) {
			h.leaves(400, stream)
			h.asks(50, 2*time.Second, lights)
		}},
		{"messages of the cloud", func(h *stranger) { hostileCloud(h.t, h.d) }},
	} {
		t.Run(attack.name, func(t *testing.T) {
			h := &stranger{t: t, d: startDemo(t)}
			before := h.d.memory(t, "VmHWM")
			attack.run(h)
			peak := h.d.memory(t, "VmHWM")
			for _, conn := range h.open {
				_ = conn.Close()
			}
			t.Logf("%d MB before, %d MB at most", before>>10, peak>>10)
			if peak > 200<<10 {
				t.Errorf("the gateway took %d MB, want at most 200", peak>>10)
			}
			if status, answer := h.d.call(t, "POST", "/devices/"+auroraLock+"/status", "application/json", []byte(`{"device_type":"lock"}`)); status != 200 {
				t.Errorf("somebody else gets %d %s", status, answer)
			}
		})
	}
}
