//go:build integration

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/cloud"
)

// rounds is how often the link is cut, and how often the gateway is killed.
const rounds = 50

// The two rooms of the test: in the first one a command at a time is given and
// its effects are counted, the second one is load.
const (
	witnessRoom = "00000000-0000-4000-8000-000000000001"
	loadRoom    = "00000000-0000-4000-8000-000000000002"
)

// witness is a camera outside of the gateway's process: it counts how often a
// picture was really taken, whatever the gateway believes.
type witness struct {
	*httptest.Server
	taken atomic.Int64
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	w := &witness{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "image/jpeg")
		if r.Method != http.MethodGet {
			return
		}
		if r.URL.Path == "/snapshot.jpg" {
			w.taken.Add(1)
		}
		_ = jpeg.Encode(rw, image.NewGray(image.Rect(0, 0, 16, 16)), nil)
	}))
	t.Cleanup(w.Close)
	return w
}

// startMosquitto starts Debian's broker on a free port of loopback.
func startMosquitto(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("mosquitto")
	if err != nil {
		path = "/usr/sbin/mosquitto"
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("mosquitto is not installed: make test-all installs it")
	}
	address := freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	conf := filepath.Join(t.TempDir(), "mosquitto.conf")
	text := fmt.Sprintf("listener %s 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nmax_queued_messages 0\npersistence false\nuser root\n", port)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	startProcess(t, exec.Command(path, "-c", conf))
	awaitThat(t, "mosquitto listens", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return address
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// startProcess starts a program and kills it, by pid, at the end of the test.
func startProcess(t *testing.T, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s said:\n%s", c.Path, text[max(0, len(text)-4000):])
		}
	})
	return c
}

func awaitThat(t *testing.T, what string, check func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !check(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("30 s have passed and it is not so: %s", what)
		}
	}
}

// proxy passes connections on to the broker until they are cut.
type proxy struct {
	net.Listener
	target string
	mu     sync.Mutex
	conns  []net.Conn
}

func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, target: target}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.pass(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); p.cut(); all.Wait() })
	return p
}

func (p *proxy) pass(near net.Conn) {
	far, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = near.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, near, far)
	p.mu.Unlock()
	go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
	_, _ = io.Copy(near, far)
	_ = near.Close()
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// headquarters is the cloud's side: it writes down what comes up, and acks.
type headquarters struct {
	t    *testing.T
	link *cloud.Link

	mu       sync.Mutex
	seen     map[uint64]int            // how often each sequence came
	last     uint64                    // the highest sequence seen
	final    map[string][]device.State // final receipts by command
	executed map[string]map[uint64]bool
}

var upTopics = cloud.Topics{Gateway: "crash"}

func startHeadquarters(t *testing.T, broker string) *headquarters {
	t.Helper()
	h := &headquarters{t: t, seen: map[uint64]int{}, final: map[string][]device.State{}, executed: map[string]map[uint64]bool{}}
	h.link = cloud.NewLink(cloud.LinkOptions{URL: "mqtt://" + broker, ClientID: "headquarters",
		Subscribe: []string{upTopics.Up(cloud.LevelEvent), upTopics.Up(cloud.LevelReceipt)}, Receive: h.receive})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = h.link.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	awaitThat(t, "headquarters is connected", h.link.Connected)
	return h
}

func (h *headquarters) receive(_ context.Context, m cloud.Message) error {
	e, err := cloud.Decode(m.Payload)
	if err != nil {
		h.t.Errorf("%s: %v", m.Topic, err)
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen[e.Sequence]++
	h.last = max(h.last, e.Sequence)
	switch e.Type {
	case "roomgate.receipt":
		var r device.Receipt
		if err := json.Unmarshal(e.Data, &r); err == nil && r.State.Final() {
			h.final[r.CommandID] = append(h.final[r.CommandID], r.State)
		}
	case "roomgate.event.commandCompleted":
		var data struct {
			Details struct {
				ID    string `json:"command_id"`
				State string `json:"state"`
			} `json:"details"`
		}
		if err := json.Unmarshal(e.Data, &data); err == nil && data.Details.State == "done" {
			if h.executed[data.Details.ID] == nil {
				h.executed[data.Details.ID] = map[uint64]bool{}
			}
			h.executed[data.Details.ID][e.Sequence] = true
		}
	}
	return nil
}

func (h *headquarters) order(id, space string) {
	data, _ := json.Marshal(map[string]any{"meeting_space_id": space, "device_type": "camera", "action": "snapshot", "ttl_s": 600})
	payload, err := cloud.Envelope{ID: id, Source: "headquarters", Type: "roomgate.command", Time: time.Now(), Data: data}.Encode()
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := h.link.Publish(ctx, cloud.Message{Topic: upTopics.Down(cloud.LevelCommand), Payload: payload, QoS: 1}); err != nil {
		h.t.Errorf("publish %s: %v", id, err)
	}
}

func (h *headquarters) answers(id string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.final[id])
}

// gap is the first sequence up to last that never came, or 0.
func (h *headquarters) gap() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	for seq := uint64(1); seq <= h.last; seq++ {
		if h.seen[seq] == 0 {
			return seq
		}
	}
	return 0
}

// gatewayUnderTest is the real binary with a real data folder.
type gatewayUnderTest struct {
	t            *testing.T
	binary, conf string
	process      *exec.Cmd
}

func buildGateway(t *testing.T, cloudAddress string, cameras ...*witness) *gatewayUnderTest {
	t.Helper()
	dir := t.TempDir()
	g := &gatewayUnderTest{t: t, binary: filepath.Join(dir, "roomgate"), conf: filepath.Join(dir, "gateway.yaml")}
	buildRoomgate(t, g.binary, nil)
	var text strings.Builder
	fmt.Fprintf(&text, "gateway: {id: crash}\ndata: %s/data\nclock: {trust: always}\nhttp: {listen: '127.0.0.1:0'}\n"+
		"cloud: {url: 'mqtt://%s', acks: broker}\nspaces:\n", dir, cloudAddress)
	for i, space := range []string{witnessRoom, loadRoom} {
		fmt.Fprintf(&text, "  - id: %s\n    name: Room %d\n    devices:\n      - {id: camera-%d, type: camera, driver: camera-http, options: {url: '%s/snapshot.jpg'}}\n",
			space, i, i, cameras[i].URL)
	}
	if err := os.WriteFile(g.conf, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *gatewayUnderTest) start() {
	g.t.Helper()
	run := exec.Command(g.binary, "run", "--config", g.conf)
	run.Env = append(os.Environ(), "ROOMGATE_SYSTEM_KEY="+crashKey)
	g.process = startProcess(g.t, run)
}

// kill ends the process as a power cut would: no signal handler runs.
func (g *gatewayUnderTest) kill() {
	g.t.Helper()
	if err := g.process.Process.Signal(syscall.SIGKILL); err != nil {
		g.t.Fatal(err)
	}
	_ = g.process.Wait()
}

// TestCrashAndCutLoseNothingAndRepeatNothing is the promise of the gateway to
// its cloud, against a real broker: the link is cut 50 times and the process
// killed 50 times while commands come in. Every row of the log arrives, and no
// picture is taken twice for one command.
func TestCrashAndCutLoseNothingAndRepeatNothing(t *testing.T) {
	t.Parallel()
	camera, busy := newWitness(t), newWitness(t)
	broker := startMosquitto(t)
	wire := startProxy(t, broker)
	h := startHeadquarters(t, broker)
	g := buildGateway(t, wire.Addr().String(), camera, busy)
	g.start()
	awaitThat(t, "the gateway reports", func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.last > 0 })

	loading, stop := context.WithCancel(t.Context())
	defer stop()
	var load sync.WaitGroup
	t.Cleanup(load.Wait)
	load.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-loading.Done():
				return
			case <-time.After(20 * time.Millisecond):
				h.order(fmt.Sprint("load-", i), loadRoom)
			}
		}
	})
	longest := time.Duration(0)
	for round := range 2 * rounds {
		id := fmt.Sprint("witness-", round)
		before := camera.taken.Load()
		began := time.Now()
		h.order(id, witnessRoom)
		time.Sleep(time.Duration(round/2%10) * 3 * time.Millisecond) // another moment each time
		// By turns: cut after cut looks like a second gateway with this id, and the pauses grow.
		if round%2 == 0 {
			wire.cut()
		} else {
			g.kill()
			g.start()
		}
		awaitThat(t, "command "+id+" is answered", func() bool { return h.answers(id) > 0 })
		longest = max(longest, time.Since(began))
		if taken := camera.taken.Load() - before; taken > 1 {
			t.Errorf("%s was carried out %d times", id, taken)
		}
		answers := h.answers(id)
		h.order(id, witnessRoom)
		awaitThat(t, "command "+id+" is answered again", func() bool { return h.answers(id) > answers })
		if taken := camera.taken.Load() - before; taken > 1 {
			t.Errorf("%s was carried out again for the same id", id)
		}
	}
	stop()
	load.Wait()
	id := "the-last-one"
	h.order(id, witnessRoom)
	awaitThat(t, "the last command is answered", func() bool { return h.answers(id) > 0 })
	awaitThat(t, "every sequence came up", func() bool { return h.gap() == 0 })

	h.mu.Lock()
	defer h.mu.Unlock()
	twice := 0
	for id, runs := range h.executed {
		if len(runs) > 1 {
			t.Errorf("%s was done %d times", id, len(runs))
		}
	}
	for _, n := range h.seen {
		if n > 1 {
			twice++
		}
	}
	t.Logf("%d link cuts and %d kills: %d rows came up, %d of them more than once, %d commands done, %d pictures for the load",
		rounds, rounds, len(h.seen), twice, len(h.executed), busy.taken.Load())
	survivedAll(t, 2*rounds, longest)
}
