package engine

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"roomgate/cloud"
	"roomgate/cloud/broker"
	"roomgate/cloud/cell"
)

// engine is where gateways and backends meet. What a broker cannot do is nil.
type engine struct {
	brokers func(cell, first int) []string // addresses for a client of a cell, which begins with one of them
	nodes   int
	kill    func(node int) // without a farewell
	stop    func(node int) // as an administrator does
	start   func(node int) // again
	isolate func(node int, alone bool)
	rights  func(may bool)     // false: the gateways may write nothing
	disk    func(bytes string) // how much may wait for a cell; nil: the engine has a bound of its own
	pulls   []string           // where backends pull from JetStream, as URLs; nil: they have sessions
}

// quiet is the log of who is not asked.
var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// asNATS is a NATS server, or a cluster of three.
func asNATS(t *testing.T, nodes int, logins *cell.Logins) engine {
	return natsEngine(newNATS(t, nodes, logins), logins)
}

func natsEngine(n *nats, logins *cell.Logins) engine {
	e := engine{brokers: func(_, first int) []string { return n.addresses(first) }, nodes: len(n.nodes), kill: n.kill, stop: n.stop, start: n.start, rights: func(may bool) { n.rights(files(logins, may)["accounts.conf"]) }}
	e.disk = func(bytes string) { logins.Disk = bytes; e.rights(true) }
	if len(n.nodes) > 1 {
		e.isolate = n.isolate
	}
	return e
}

// asPulled is that, with backends that pull.
func asPulled(t *testing.T, nodes int, logins *cell.Logins) engine {
	n := newNATS(t, nodes, logins)
	e := natsEngine(n, logins)
	for _, node := range n.nodes {
		e.pulls = append(e.pulls, "nats://"+node.nats)
	}
	return e
}

// asMosquitto is Debian's broker with the example configuration.
func asMosquitto(t *testing.T, logins *cell.Logins) engine {
	path := "/usr/sbin/mosquitto" // not on everybody's path
	if _, err := os.Stat(path); err != nil {
		t.Skip("mosquitto is not installed (Debian: apt-get install mosquitto), so the contract was not tried against it")
	}
	dir, address := t.TempDir(), freeAddress(t)
	raw, err := os.ReadFile(filepath.Join("..", "..", "configs", "mosquitto", "mosquitto.conf"))
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(address)
	// As root it would become a user who may not read the files of the test.
	less := strings.Replace(string(raw), "max_queued_messages 100000", "max_queued_messages 500", 1)
	writeFile(t, filepath.Join(dir, "mosquitto.conf"), "user root\nlistener "+port+" 127.0.0.1\npersistence_location "+dir+"/\n"+less)
	p := &process{t: t, path: path, args: []string{"-c", "mosquitto.conf"}, dir: dir}
	write := func(may bool) {
		for name, text := range files(logins, may) {
			if strings.HasPrefix(name, "mosquitto-1.") {
				writeFile(t, filepath.Join(dir, name), text)
			}
		}
	}
	start := func(int) {
		p.start()
		until(t, "mosquitto does not listen", 10*time.Second, func() bool { return listens(address) })
	}
	write(true)
	start(0)
	t.Cleanup(func() { p.end(syscall.SIGKILL) })
	return engine{brokers: func(_, _ int) []string { return []string{address} }, nodes: 1, start: start,
		kill: func(int) { p.end(syscall.SIGKILL) }, stop: func(int) { p.end(syscall.SIGTERM) },
		rights: func(may bool) { write(may); p.hup() }}
}

// asMochi is the broker of roomgate cloud serve, in this process.
func asMochi(t *testing.T, passwords map[string]string) engine {
	m := &mochi{t: t, address: freeAddress(t), users: passwords}
	m.start(0)
	t.Cleanup(func() { m.end(0) })
	return engine{brokers: func(_, _ int) []string { return []string{m.address} }, nodes: 1, kill: func(int) { m.end(0) }, start: m.start, rights: func(may bool) { m.mute.Store(!may) }}
}

// mochi is a broker in this process, which can be ended and started again.
type mochi struct {
	t       *testing.T
	address string
	users   map[string]string
	end     func(int)
	mute    atomic.Bool
}

// may is what files of the cell say to other brokers.
func (m *mochi) may(user, topic string, write bool) bool {
	gateway, up, _, _, ok := cloud.ParseTopic(topic)
	if user == cell.BackendUser(1) {
		return write != up && ok || !write && strings.HasPrefix(topic, cloud.Topics{Gateway: "+"}.Up(""))
	}
	if !write && topic == (cloud.Topics{Gateway: user}).Down("+") {
		return true
	}
	return ok && gateway == user && write == up && !(write && m.mute.Load())
}

func (m *mochi) start(int) {
	b, err := broker.Open(broker.Options{Listen: m.address, Users: m.users, ACL: m.may, MaxPacket: 1 << 20, Budget: 512 << 10, Log: quiet})
	if err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() { _ = b.Run(ctx) })
	end := sync.OnceFunc(func() { cancel(); loop.Wait(); _ = b.Close() })
	m.end = func(int) { end() }
}

// at is the URL of brokers.
func at(addresses []string) string {
	return "mqtt://" + strings.Join(addresses, ",mqtt://")
}

// members are the gateways of a fleet of so many cells; one has a dot in its id.
func members(cells, each int) (ids []string) {
	for i := range cells * each {
		ids = append(ids, fmt.Sprintf("g.%d", i+1))
	}
	return ids
}

// files are what a broker reads of logins. If the gateways may not write, their rights are
// for topics that nobody has.
func files(c *cell.Logins, may bool) map[string]string {
	all := c.Files()
	for name, text := range all {
		if !may {
			text = strings.ReplaceAll(text, `publish: {allow: ["roomgate.v1.g`, `publish: {allow: ["nobody.g`)
			text = strings.ReplaceAll(text, "pattern write roomgate/", "pattern write nobody/")
		}
		all[name] = text
	}
	return all
}

// A pillar stands alone: nothing here needs the building.
func TestNeedsNoBuilding(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./...").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for path := range strings.Lines(string(out)) {
		if strings.HasPrefix(path, "roomgate/agent") || strings.HasPrefix(path, "roomgate/drivers") || strings.HasPrefix(path, "roomgate/store") {
			t.Errorf("it needs %s", strings.TrimSpace(path))
		}
	}
}
