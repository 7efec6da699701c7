//go:build lab

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/cloud"
	"roomgate/cloud/backend"
	"roomgate/cloud/broker"
)

// labSpace and labKey are those of the gateway in the machine.
const (
	labSpace = "00000000-0000-4000-8000-0000000001ab"
	labKey   = "lab-key-0123456789abcdef0123456789"
)

// lab is a machine of drivers/host/lab with a gateway, seen from outside: over
// HTTP, over MQTT, and in the world to which its wires lead.
type lab struct {
	*testing.T
	script, dir string   // of the machine
	env         []string // of the script
	web, world  string   // addresses
	up          *backend.Backend
	journal     string // the command that shows what the gateway said last

	mu       sync.Mutex
	received []cloud.Envelope
}

// newLab boots one of the images of `make lab`.
func newLab(t *testing.T, image string, env ...string) *lab {
	l := &lab{T: t, script: os.Getenv("LAB_SCRIPT"), web: labPort(t), world: labPort(t), journal: "tail -n 20 /data/log"}
	if l.script == "" {
		t.Skip("make lab runs this")
	}
	images := os.Getenv("LAB_IMAGES")
	l.dir = filepath.Join(images, image+".run")
	l.env = append(env, "LAB_RUN="+l.dir)
	t.Cleanup(func() { l.T = t; l.lab("cut") })
	l.lab("boot", filepath.Join(images, image), port(l.web)+":8080", port(l.world)+":7000")
	return l
}

// row is a row of the table that `make lab` prints: device/bus/operation/fault.
func (l *lab) row(name string, f func(l *lab)) {
	outer := l.T
	outer.Run(name, func(t *testing.T) {
		l.T = t
		defer func() { l.T = outer }()
		f(l)
	})
}

func labPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func port(address string) string {
	_, p, _ := net.SplitHostPort(address)
	return p
}

// lab calls the lab's script.
func (l *lab) lab(args ...string) string {
	l.Helper()
	c := exec.Command(l.script, args...)
	c.Env = append(os.Environ(), l.env...)
	c.WaitDelay = time.Second // the machine goes on and has our output
	var told strings.Builder
	c.Stderr = &told
	out, err := c.Output()
	if err != nil && c.ProcessState != nil && !c.ProcessState.Success() {
		l.Fatalf("lab %s: %v\n%s%s\n%s", strings.Join(args, " "), err, out, &told, l.console())
	}
	return string(out)
}

// console is the last of what the machine's kernel has said.
func (l *lab) console() string {
	said, err := os.ReadFile(filepath.Join(l.dir, "console"))
	if err != nil {
		return err.Error()
	}
	return string(said[max(0, len(said)-2000):])
}

// sh is what a command in the machine prints.
func (l *lab) sh(command string) string {
	l.Helper()
	return strings.TrimSpace(l.lab("sh", command))
}

// startCloud starts the broker and the backend that the gateway connects to.
func (l *lab) startCloud() {
	b, err := broker.Open(broker.Options{Listen: "127.0.0.1:0", AllowAnonymousLoopback: true})
	if err != nil {
		l.Fatal(err)
	}
	l.Setenv("LAB_CLOUD", port(b.Addr().String()))
	l.up, err = backend.Open(backend.Options{URL: "mqtt://" + b.Addr().String(), ClientID: "lab-backend"})
	if err != nil {
		l.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { _ = b.Run(ctx) })
	all.Go(func() {
		_ = l.up.Consume(ctx, backend.NewMemory(), func(_ context.Context, _ backend.Tx, e backend.Received) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.received = append(l.received, e.Envelope)
			return nil
		})
	})
	l.Cleanup(func() { cancel(); all.Wait(); _ = b.Close() })
}

// start starts the gateway and waits until it is ready.
func (l *lab) start() {
	l.Helper()
	l.lab("sh", "sed 's/CLOUD_PORT/"+os.Getenv("LAB_CLOUD")+"/' /etc/gateway.yaml > /data/gateway.yaml; "+
		"ROOMGATE_SYSTEM_KEY="+labKey+" setsid roomgate run --config /data/gateway.yaml </dev/null >>/data/log 2>&1 & echo $! > /data/pid")
	l.await("the gateway is ready", l.ready)
}

// ready asks the gateway whether it is.
func (l *lab) ready() bool {
	asks := http.Client{Timeout: 5 * time.Second} // a machine that stands still does not refuse
	r, err := asks.Get("http://" + l.web + "/readyz")
	if err != nil {
		return false
	}
	_ = r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// end ends the gateway's process with a signal, and waits until it is gone.
func (l *lab) end(signal string) {
	l.Helper()
	l.lab("sh", "p=$(cat /data/pid); kill -"+signal+" $p; while [ -d /proc/$p ] && ! grep -q '^State:.Z' /proc/$p/status; do sleep 0.05; done")
}

func (l *lab) await(what string, check func() bool) {
	l.Helper()
	l.within(20*time.Second, what, check)
}

// within waits until something is so, for as long as no machine takes.
func (l *lab) within(limit time.Duration, what string, check func() bool) {
	l.Helper()
	for end := time.Now().Add(limit); !check(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			l.Fatalf("%v have passed and it is not so: %s\n%s", limit, what, l.lab("sh", l.journal))
		}
	}
}

// post asks the gateway.
func (l *lab) post(path string, body, answer any) {
	l.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		l.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, "http://"+l.web+"/devices/"+labSpace+path, bytes.NewReader(raw))
	if err != nil {
		l.Fatal(err)
	}
	r.Header.Set("X-API-Key", labKey)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		l.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(text, answer)
	}
	if err != nil {
		l.Fatalf("%s: %v: %s", path, err, text)
	}
}

// order gives a command over HTTP and returns the state of its receipt.
func (l *lab) order(device, sub, action string, value any) string {
	l.Helper()
	body := map[string]any{"device_type": device, "action": action}
	if sub != "" {
		body["sub_device"] = sub
	}
	if value != nil {
		body["value"] = value
	}
	var receipt struct{ State, Reason string }
	l.post("/action", body, &receipt)
	return strings.TrimSpace(receipt.State + " " + receipt.Reason)
}

// status is "value status" of a device or a sub-device.
func (l *lab) status(device, sub string) string {
	l.Helper()
	body := map[string]any{"device_type": device}
	if sub != "" {
		body["sub_device"] = sub
	}
	var answer struct {
		Response struct{ Value, Status string }
	}
	l.post("/status", body, &answer)
	return answer.Response.Value + " " + answer.Response.Status
}

// becomes waits until a status is so.
func (l *lab) becomes(device, sub, want string) {
	l.Helper()
	l.await(device+" "+sub+" is "+want, func() bool { return l.status(device, sub) == want })
}

// sim moves the world at the end of the wires, or asks how a part of it is.
func (l *lab) sim(command string) string {
	l.Helper()
	lines := l.ask(command)
	line, err := lines.ReadString('\n')
	if err != nil || strings.HasPrefix(line, "error") {
		l.Fatalf("%s: %q, %v", command, line, err)
	}
	return strings.TrimSpace(line)
}

func (l *lab) ask(command string) *bufio.Reader {
	l.Helper()
	c, err := net.Dial("tcp", l.world)
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = c.Close() })
	fmt.Fprintln(c, command)
	return bufio.NewReader(c)
}

// log is the board's own log of an output, as "1" or a duty in ns.
func (l *lab) log(output string) (levels []string) {
	l.Helper()
	for lines := l.ask("log"); ; {
		line, err := lines.ReadString('\n')
		if err != nil || line == "\n" {
			return levels
		}
		_, text, _ := strings.Cut(line, " ")
		if rest, ok := strings.CutPrefix(text, output+" "); ok {
			levels = append(levels, strings.Fields(rest)[0])
		}
	}
}

// has waits for an envelope from the gateway.
func (l *lab) has(what string, ok func(cloud.Envelope) bool) {
	l.Helper()
	l.await(what, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, e := range l.received {
			if ok(e) {
				return true
			}
		}
		return false
	})
}
