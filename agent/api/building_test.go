package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent"
	"roomgate/agent/config"
	"roomgate/agent/console"
	"roomgate/agent/journal/journaltest"
	"roomgate/agent/mail/mailtest"
	"roomgate/agent/push/pushtest"
	"roomgate/agent/setup"
	"roomgate/agent/update"
	"roomgate/drivers/all"
	"roomgate/drivers/sim"
	"roomgate/drivers/sim/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	aurora    = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01"
	borealis  = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a02"
	nowhere   = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4aff"
	systemKey = "system-key-of-the-tests"
	movable   = "Movable" // the name of a gateway whose clock can be moved
)

// building is a simulated building behind its two doors.
type building struct {
	t        testing.TB
	agent    *agent.Agent
	world    *sim.World
	server   *Server
	relay    *mailtest.Relay // nil: no mail
	push     *pushtest.Server
	log      *journaltest.Log
	net      *pipes                                 // the network's door
	socket   *pipes                                 // the control socket
	dir      string                                 // of its data
	updates  *update.Runner                         // nil: it takes none
	findings func(since time.Time) console.Findings // nil: nobody examines it
	end      func()
}

// inBuilding runs f in virtual time, with a building whose devices have all
// been observed.
func inBuilding(t *testing.T, f func(t *testing.T, b *building), change ...func(*config.Config)) {
	synctest.Test(t, func(t *testing.T) {
		b := openBuilding(t, change...)
		defer func() { b.end() }()
		b.serve()
		f(t, b)
		b.wantKnownKinds()
	})
}

// openBuilding starts a building, without its doors.
func openBuilding(t testing.TB, change ...func(*config.Config)) *building {
	b := prepare(t, change...)
	b.run()
	return b
}

// run moves the building until it ends, and returns once every device was
// observed.
func (b *building) run() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.agent.Run(ctx) }()
	end := b.end
	b.end = func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Errorf("run ended with %v", err)
		}
		end()
	}
	for range 600 {
		if b.agent.Health.Ready() == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// prepare opens a building that does not run. Its configuration may be
// changed before.
func prepare(t testing.TB, change ...func(*config.Config)) *building {
	return prepareIn(t, t.TempDir(), change...)
}

// prepareIn is prepare with the data of a building that has ended.
func prepareIn(t testing.TB, dir string, change ...func(*config.Config)) *building {
	b := &building{t: t, log: &journaltest.Log{}, net: newPipes("192.0.2.7"), socket: newPipes("")}
	c, err := config.Load("testdata/building.yaml", all.All())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(c)
	}
	world, err := os.ReadFile("testdata/world.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if b.world, err = plan.Parse(world); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(b.log, nil))
	b.dir = dir
	options := agent.Options{Config: c, Buses: b.world, DataDir: b.dir, SystemKey: systemKey, Version: "test", Log: log,
		Simulated: c.Gateway.Name == movable}
	if c.SMTP.URL != "" {
		b.startRelay(&options)
	}
	b.push = &pushtest.Server{}
	options.Push = &http.Client{Transport: b.push}
	outside := &http.Client{Transport: unreachable{}} // net looks names up in one bubble only
	options.Calendars, options.Webhooks = outside, outside
	b.agent, err = agent.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	b.server = b.serverOf()
	b.end = func() {
		if err := b.agent.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if b.relay != nil {
			b.relay.Close()
		}
		b.world.Close()
	}
	return b
}

// serverOf is a server of the building as it is.
func (b *building) serverOf() *Server {
	return New(Options{Agent: b.agent, Log: slog.New(slog.NewTextHandler(b.log, nil)), Version: "1 <2>", Machine: setup.Machine{Kinds: all.All()}, Names: []string{"gateway"}, Root: func() []byte { return []byte(rootOfTests) }, Errands: b.errands(), Findings: b.findings, Extra: map[string]http.Handler{
		"POST /sim": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "moved") })}})
}

// unreachable is an internet in which nobody answers.
type unreachable struct{}

func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nobody answers")
}

// serve opens both doors; they close before the building does.
func (b *building) serve() {
	ctx, cancel := context.WithCancel(context.Background())
	var doors sync.WaitGroup
	for _, d := range []struct {
		l net.Listener
		h http.Handler
	}{{b.net, b.server.Handler()}, {b.socket, b.server.Control()}} {
		doors.Go(func() {
			if err := b.server.Serve(ctx, d.l, d.h); err != nil {
				b.t.Errorf("serve ended with %v", err)
			}
		})
	}
	end := b.end
	b.end = func() {
		b.net.client.CloseIdleConnections()
		b.socket.client.CloseIdleConnections()
		cancel()
		doors.Wait()
		end()
	}
}

// answer is a response that has been read.
type answer struct {
	*http.Response
	body string
}

// newRequest makes a request of "Header: value" lines and what is none, the
// body.
func newRequest(t testing.TB, method, path string, parts ...string) *http.Request {
	t.Helper()
	var body io.Reader
	header := http.Header{}
	for _, p := range parts {
		name, value, ok := strings.Cut(p, ": ")
		if ok && !strings.ContainsAny(name, `{[" `) {
			header.Set(name, value)
			continue
		}
		body = strings.NewReader(p)
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", "application/json")
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://gateway"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	return r
}

// do sends a request and reads the answer.
func (p *pipes) do(t testing.TB, method, path string, parts ...string) answer {
	t.Helper()
	r, err := p.client.Do(newRequest(t, method, path, parts...))
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("%s %s: read: %v", method, path, err)
	}
	return answer{r, string(body)}
}

// ask asks with the system key.
func (b *building) ask(method, path string, parts ...string) answer {
	b.t.Helper()
	return b.net.do(b.t, method, path, append(parts, "X-API-Key: "+systemKey)...)
}

// pipes is a listener in memory and a client that reaches it.
type pipes struct {
	host   string
	conns  chan net.Conn
	done   chan struct{}
	once   sync.Once
	client *http.Client
}

func newPipes(host string) *pipes {
	p := &pipes{host: host, conns: make(chan net.Conn), done: make(chan struct{})}
	p.client = &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return p.dial() }}}
	return p
}

func (p *pipes) dial() (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- from{theirs, p.host}:
		return ours, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return address(p.host) }

// from is a connection that comes from an address.
type from struct {
	net.Conn
	host string
}

func (f from) RemoteAddr() net.Addr { return address(f.host) }

type address string

func (address) Network() string { return "tcp" }
func (a address) String() string {
	if a == "" {
		return "@"
	}
	return string(a) + ":40000"
}
