package main

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// guest is a client of a gateway's room broker that writes its packets itself.
type guest struct {
	net    io.ReadWriteCloser
	reader *bufio.Reader
}

func words(all ...string) (b []byte) {
	for _, s := range all {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
	}
	return b
}

// send writes a packet (MQTT 3.1.1, 2.2).
func (g *guest) send(first byte, body ...[]byte) error {
	var all []byte
	for _, b := range body {
		all = append(all, b...)
	}
	head := []byte{first}
	for n := len(all); ; n >>= 7 {
		if n < 128 {
			head = append(head, byte(n))
			break
		}
		head = append(head, byte(n&127|128))
	}
	_, err := g.net.Write(append(head, all...))
	return err
}

// read returns the first byte of the next packet, and what follows its length.
func (g *guest) read() (first byte, body []byte, err error) {
	if first, err = g.reader.ReadByte(); err != nil {
		return 0, nil, err
	}
	n, err := binary.ReadUvarint(g.reader) // the same form
	if err == nil {
		body = make([]byte, n)
		_, err = io.ReadFull(g.reader, body)
	}
	return first, body, err
}

// roomBroker is where guests are let in.
type roomBroker struct {
	t       *testing.T
	address string
	config  *tls.Config
}

// join logs in with the will of a Home Assistant, whose dialog this is. code is that
// of CONNACK.
func (r *roomBroker) join(user, id string, keepalive uint16, flags byte) (g *guest, code byte) {
	conn, err := tls.Dial("tcp", r.address, r.config)
	if err != nil {
		r.t.Fatal(err)
	}
	g = &guest{conn, bufio.NewReader(conn)}
	head := append(words("MQTT"), 4, 0xC4|flags) // user, password, will
	err = g.send(0x10, binary.BigEndian.AppendUint16(head, keepalive), words(id, user+"/status", "offline", user, "secret"))
	_, ack, e := g.read()
	if err != nil || e != nil || len(ack) != 2 {
		r.t.Errorf("%s was not answered: %v, %v", user, err, e)
		return g, 255
	}
	return g, ack[1]
}

// subscribe returns the code of SUBACK.
func (g *guest) subscribe(filter string) byte {
	_ = g.send(0x82, []byte{0, 1}, words(filter), []byte{1})
	for {
		first, body, err := g.read()
		if err != nil {
			return 255
		}
		if first == 0x90 {
			return body[2]
		}
	}
}

// startRoomBroker starts a gateway with a room broker and n guests, under the limit
// of its unit. peak is the most memory that the process ever had, in bytes.
func startRoomBroker(t *testing.T, n int) (r *roomBroker, peak func() int) {
	t.Helper()
	dir := shortDir(t)
	certificate, key, pool := selfSigned(t)
	text := fmt.Sprintf("gateway: {id: g}\nhttp: {listen: '127.0.0.1:0'}\nbroker:\n  listen: 127.0.0.1:0\n  tls: {certificate: %s, key: %s}\n  users:\n", certificate, key)
	for i := range n {
		text += fmt.Sprintf("    - {name: guest%d, password: secret}\n", i)
	}
	file := filepath.Join(dir, "g.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("roomgate", "run", "--config", file, "--data", filepath.Join(dir, "data"))
	cmd.Env = append(os.Environ(), "GOMEMLIMIT=160MiB", "GORACE=atexit_sleep_ms=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the gateway ended with %v", err)
		}
	})
	r = &roomBroker{t: t, config: &tls.Config{RootCAs: pool, ServerName: "gateway"}}
	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, at, ok := strings.Cut(lines.Text(), "room broker listening on mqtts://"); ok {
				ready <- at
			}
		}
	}()
	select {
	case r.address = <-ready:
	case <-time.After(60 * time.Second):
		t.Fatal("the gateway has no room broker")
	}
	return r, func() int {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(string(status), "VmHWM:")
		var kib int
		if _, err := fmt.Sscan(line, &kib); err != nil {
			t.Fatal(err)
		}
		return kib << 10
	}
}

// TestMemoryOfAGatewayIsBounded: one user and sixty leave two absent sessions each and
// publish to them as fast as they can. The whole gateway stays below its limit and
// serves the others.
func TestMemoryOfAGatewayIsBounded(t *testing.T) {
	if !measured {
		t.Skip("it measures: make test-all and make faults have it")
	}
	const most = 200 << 20
	for _, users := range []int{1, 60} {
		t.Run(fmt.Sprint(users, " users"), func(t *testing.T) {
			r, peak := startRoomBroker(t, users+1)
			var all sync.WaitGroup
			for i := range users {
				all.Go(func() { r.attack(fmt.Sprint("guest", i), 2*time.Second) })
			}
			all.Wait()
			t.Logf("at most %d MB", peak()>>20)
			if peak() > most {
				t.Errorf("the gateway took %d MB, want at most %d", peak()>>20, most>>20)
			}
			r.polite(fmt.Sprint("guest", users))
		})
	}
}

// attack makes two sessions wait and publishes for so long.
func (r *roomBroker) attack(user string, long time.Duration) {
	for _, id := range []string{"a", "b"} {
		g, code := r.join(user, user+"/"+id, 30, 0)
		if code != 0 || g.subscribe(user+"/#") != 1 {
			r.t.Errorf("%s was not let in: code %d", user, code)
		}
		_ = g.net.Close()
	}
	payload := make([]byte, 60_000)
	for end := time.Now().Add(long); time.Now().Before(end); {
		g, code := r.join(user, user+"/x", 30, 2)
		if code == 0 {
			go func() { _, _ = io.Copy(io.Discard, g.reader) }()
			for time.Now().Before(end) && g.send(0x32, words(user+"/x"), []byte{0, 1}, payload) == nil {
			}
		}
		_ = g.net.Close()
	}
}

// polite is somebody whom the attack must not concern: with an id of its own choice
// and a keepalive of an hour it is let in, hears what is its own, and nothing else.
func (r *roomBroker) polite(user string) {
	g, code := r.join(user, "5qX2vLr0bTq7mWmYzC1p8a", 3600, 2)
	defer g.net.Close()
	if code != 0 {
		r.t.Fatalf("%s was not let in: code %d", user, code)
	}
	for filter, want := range map[string]byte{user + "/#": 1, "#": 0x80, "guest0/#": 0x80, "$share/g/guest0/#": 0x80, "+/x": 0x80} {
		if got := g.subscribe(filter); got != want {
			r.t.Errorf("%s subscribes to %s: code %#x, want %#x", user, filter, got, want)
		}
	}
	_ = g.send(0x32, words(user+"/status"), []byte{0, 9}, []byte("online"))
	for want := map[byte]bool{0x40: true, 0x32: true}; len(want) > 0; {
		first, _, err := g.read()
		if err != nil {
			r.t.Fatalf("%s misses %v: %v", user, want, err)
		}
		delete(want, first)
	}
}
