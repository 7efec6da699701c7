package engine

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"

	"roomgate/cloud/cell"
)

// asServer is the configuration with which this program is a NATS server instead.
const asServer = "ENGINE_NATS"

func TestMain(m *testing.M) {
	if path := os.Getenv(asServer); path != "" {
		serveNATS(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// serveNATS is what nats-server does.
func serveNATS(path string) {
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s, err := server.NewServer(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.ConfigureLogger()
	if err := server.Run(s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.WaitForShutdown()
}

// natsNode is a node, with what leads from it to others.
type natsNode struct {
	*process
	mqtt, nats, cluster, monitor string
	wires                        []*wire // to or from another node
}

// nats is a NATS server, or some that are a cluster.
type nats struct {
	t     *testing.T
	nodes []*natsNode
}

// newNATS starts so many nodes with the example configuration and these logins.
func newNATS(t *testing.T, nodes int, logins *cell.Logins) *nats {
	t.Helper()
	n := &nats{t: t}
	for range nodes {
		n.nodes = append(n.nodes, &natsNode{mqtt: freeAddress(t), nats: freeAddress(t), cluster: freeAddress(t), monitor: freeAddress(t)})
	}
	for i, node := range n.nodes {
		n.prepare(i, node, logins)
	}
	for _, node := range n.nodes {
		node.start()
	}
	for i := range n.nodes {
		n.healthy(i)
	}
	return n
}

// prepare lays out the files of a node. It asks the nodes behind it for a route, by a
// wire for each, and is asked by those before it: two that ask each other at once may go on so.
func (n *nats) prepare(i int, node *natsNode, logins *cell.Logins) {
	dir := n.t.TempDir()
	for _, name := range []string{"one.conf", "node.conf"} {
		copyFile(n.t, filepath.Join("..", "..", "configs", "nats", name), filepath.Join(dir, name))
	}
	routes := []string{quoted("nats://127.0.0.1:1")} // there has to be one
	for _, other := range n.nodes[i+1:] {
		w := newWire(n.t, other.cluster)
		node.wires, other.wires = append(node.wires, w), append(other.wires, w)
		routes = append(routes, quoted("nats://"+w.address()))
	}
	main := "one.conf"
	if len(n.nodes) > 1 {
		main = "node.conf"
	}
	says, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		n.t.Fatal(err)
	}
	// What a node says of itself leads nowhere: the others have it by their wires.
	node.process = &process{t: n.t, path: os.Args[0], dir: dir, says: says, env: []string{asServer + "=" + filepath.Join(dir, main),
		fmt.Sprint("NODE=n", i+1), "MQTT_LISTEN=" + quoted(node.mqtt), "NATS_LISTEN=" + quoted(node.nats), "MONITOR=" + quoted(node.monitor),
		"STORE=" + quoted(filepath.Join(dir, "store")), "CLUSTER_LISTEN=" + quoted(node.cluster), "CLUSTER_ADVERTISE=" + quoted(fmt.Sprint("127.0.0.1:", i+1)), "ROUTES=[" + strings.Join(routes, ",") + "]"}}
	node.write(logins.Files()["accounts.conf"])
	n.t.Cleanup(func() {
		node.end(syscall.SIGKILL)
		_ = says.Close()
		if n.t.Failed() {
			log, _ := os.ReadFile(says.Name())
			n.t.Logf("node %d: %s", i+1, tail(log))
		}
	})
}

func quoted(text string) string { return fmt.Sprintf("%q", text) }

// tail is the end of a log.
func tail(log []byte) []byte { return log[max(0, len(log)-3000):] }

// write writes who may log in.
func (n *natsNode) write(accounts string) {
	writeFile(n.t, filepath.Join(n.dir, "accounts.conf"), accounts)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, to, string(raw))
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// healthy waits until a node has caught up with the others.
func (n *nats) healthy(i int) {
	n.t.Helper()
	c := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	until(n.t, fmt.Sprintf("node %d is not healthy", i+1), 30*time.Second, func() bool {
		r, err := c.Get("http://" + n.nodes[i].monitor + "/healthz")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
}

// addresses are those of the nodes for a client that begins with one of them.
func (n *nats) addresses(first int) (all []string) {
	for i := range n.nodes {
		all = append(all, n.nodes[(first+i)%len(n.nodes)].mqtt)
	}
	return all
}

func (n *nats) kill(i int) { n.nodes[i].end(syscall.SIGKILL) }

func (n *nats) stop(i int) { n.nodes[i].end(syscall.SIGTERM) }

func (n *nats) start(i int) {
	n.nodes[i].start()
	n.healthy(i)
}

func (n *nats) isolate(i int, alone bool) {
	for _, w := range n.nodes[i].wires {
		w.part(alone)
	}
}

func (n *nats) rights(accounts string) {
	for _, node := range n.nodes {
		node.write(accounts)
		node.hup()
	}
}
