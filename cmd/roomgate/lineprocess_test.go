//go:build integration && faults

package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// mosquittoAt is a broker that is started and killed again and again at one address.
type mosquittoAt struct {
	t       *testing.T
	address string
	binary  string
	conf    string
	process *exec.Cmd
}

func newMosquittoAt(t *testing.T) *mosquittoAt {
	t.Helper()
	binary, err := exec.LookPath("mosquitto")
	if err != nil {
		binary = "/usr/sbin/mosquitto"
	}
	if _, err := os.Stat(binary); err != nil {
		t.Skip("mosquitto is not installed: make test-all installs it")
	}
	m := &mosquittoAt{t: t, address: freeAddress(t), binary: binary, conf: filepath.Join(t.TempDir(), "mosquitto.conf")}
	_, port, _ := net.SplitHostPort(m.address)
	text := fmt.Sprintf("listener %s 127.0.0.1\nallow_anonymous true\npersistence false\nuser root\n", port)
	if err := os.WriteFile(m.conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *mosquittoAt) start() {
	m.t.Helper()
	m.process = startProcess(m.t, exec.Command(m.binary, "-c", m.conf))
}

func (m *mosquittoAt) kill() {
	m.t.Helper()
	if err := m.process.Process.Kill(); err != nil {
		m.t.Fatal(err)
	}
	_ = m.process.Wait()
}

// line is what a gateway says of its line to the cloud.
type line struct {
	Connected bool `json:"cloud_connected"`
	Contested int  `json:"cloud_contested"`
	Trouble   *struct {
		Cause string `json:"cause"`
		Seen  string `json:"seen"`
		Times int    `json:"times"`
	} `json:"cloud_trouble"`
}

func (d *badDisk) line() (l line) {
	d.t.Helper()
	if status, err := d.call(http.MethodGet, "/v2.0/gateway", nil, &l); err != nil || status != http.StatusOK {
		d.t.Fatalf("the gateway says of itself %d, %v", status, err)
	}
	return l
}

// TestBrokerOfAGatewayRestarts: a broker is killed again and again, soon after the gateway has come back to it. That is no second gateway
// with this id, half of the returns take less than 5 s, and the doctor says what is wrong while the broker is away.
func TestBrokerOfAGatewayRestarts(t *testing.T) {
	m := newMosquittoAt(t)
	d := openBadDisk(t, t.TempDir(), special{arguments: []string{"--cloud", "mqtt://" + m.address}})
	awaitThat(t, "the gateway knows that nobody is there", func() bool { l := d.line(); return l.Trouble != nil && l.Trouble.Cause == "unreachable" })
	d.diagnosed("the broker is not reached")
	m.start()
	awaitThat(t, "the gateway is there", func() bool { return d.line().Connected })
	var took []time.Duration
	const restarts = 15 // the pauses are drawn
	for range restarts {
		d.book(1)
		m.kill()
		awaitThat(t, "the gateway has noticed", func() bool { return !d.line().Connected })
		m.start()
		began := time.Now()
		awaitThat(t, "the gateway is back", func() bool { return d.line().Connected })
		took = append(took, time.Since(began))
		if n := d.line().Contested; n > 0 {
			t.Errorf("after %d restarts it takes the broker for contested, %d times", len(took), n)
		}
	}
	if events := d.events("gatewayContested"); len(events) > 0 {
		t.Errorf("it told of another gateway: %s", strings.Join(events, ", "))
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median > 5*time.Second {
		t.Errorf("half of the returns took more than %v: %v", median, took)
	}
	t.Logf("half of the returns took less than %v", took[len(took)/2])
	d.longest = took[len(took)-1]
	d.intact(restarts)
}
