package cloud

import (
	"context"
	"fmt"

	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// mosquitto starts Debian's broker on a free port and returns its URL.
func mosquitto(t *testing.T) string {
	t.Helper()
	return newMosquitto(t, "allow_anonymous true\nset_tcp_nodelay true\nmax_queued_messages 0\n").start()
}

// mosquittoBroker is one that may be stopped and started again.
type mosquittoBroker struct {
	t                   *testing.T
	path, conf, address string
	cmd                 *exec.Cmd
}

// newMosquitto is one on a free port with these lines in its configuration.
func newMosquitto(t *testing.T, config string) *mosquittoBroker {
	t.Helper()
	path, err := exec.LookPath("mosquitto")
	if err != nil {
		path = "/usr/sbin/mosquitto" // not on everybody's path
		if _, err := os.Stat(path); err != nil {
			t.Skip("mosquitto is not installed (Debian: apt-get install mosquitto), so the link was not tried against it")
		}
	}
	port := quietPort(t)
	m := &mosquittoBroker{t: t, path: path, address: "127.0.0.1:" + port}
	m.conf = filepath.Join(t.TempDir(), "mosquitto.conf")
	// As root it would become a user who may not read the files of the test.
	if err := os.WriteFile(m.conf, []byte("user root\nlistener "+port+" 127.0.0.1\n"+config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.stop)
	return m
}

// quietPort is a free one that the system gives to nobody who asks for any, so that it
// stays free until it is used: Mosquitto does not say which one it has chosen.
func quietPort(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if err == nil {
			_, port, _ := net.SplitHostPort(l.Addr().String())
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// start returns the URL once it listens.
func (m *mosquittoBroker) start() string {
	m.t.Helper()
	m.cmd = exec.Command(m.path, "-c", m.conf)
	if err := m.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	for range 200 {
		if c, err := net.Dial("tcp", m.address); err == nil {
			_ = c.Close()
			return "mqtt://" + m.address
		}
		time.Sleep(10 * time.Millisecond)
	}
	m.t.Fatal("mosquitto does not listen")
	return ""
}

func (m *mosquittoBroker) stop() {
	if m.cmd != nil {
		_ = m.cmd.Process.Kill()
		_ = m.cmd.Wait()
		m.cmd = nil
	}
}

// frail is a connection that breaks after so many bytes, in the middle of
// whatever is on its way.
type frail struct {
	net.Conn
	left *atomic.Int64
	cuts *atomic.Int64
	once *sync.Once
}

func (f frail) spend(n int) bool {
	if f.left.Add(int64(-n)) > 0 {
		return true
	}
	f.once.Do(func() {
		f.cuts.Add(1)
		_ = f.Conn.Close()
	})
	return false
}

func (f frail) Write(p []byte) (int, error) {
	if !f.spend(len(p)) {
		n, _ := f.Conn.Write(p[:rand.N(len(p)+1)])
		return n, net.ErrClosed
	}
	return f.Conn.Write(p)
}

func (f frail) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	if err == nil && !f.spend(n) {
		return rand.N(n + 1), net.ErrClosed
	}
	return n, err
}

// frailDial breaks the first so many connections.
func frailDial(times int64, cuts *atomic.Int64) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil || cuts.Load() >= times {
			return c, err
		}
		left := new(atomic.Int64)
		left.Store(rand.Int64N(5_000) + 200)
		return frail{c, left, cuts, new(sync.Once)}, nil
	}
}

func TestMosquittoCut50TimesUnderLoad(t *testing.T) {
	url := mosquitto(t)
	const total = 10_000
	var box mailbox
	reader := NewLink(LinkOptions{URL: url, ClientID: "reader", Subscribe: []string{"up/event"}, Receive: box.receive, Log: quiet})
	defer run(t, reader.Run)()
	if reader.await(t.Context()) == nil {
		t.Fatal("no link to mosquitto")
	}
	var cuts atomic.Int64
	var out rows
	link := NewLink(LinkOptions{URL: url, ClientID: "g", Log: quiet, MaxBackoff: 20 * time.Millisecond,
		Dial: frailDial(50, &cuts), Subscribe: []string{"down/#"}})
	up := NewUplink(link, &out, UplinkOptions{Acks: AcksBroker, ForgetEvery: 5 * time.Millisecond, Log: quiet})
	defer run(t, link.Run)()
	defer run(t, up.Run)()
	go func() {
		for range total / 100 {
			out.add(100)
			up.Wake()
			time.Sleep(time.Millisecond)
		}
	}()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if out.forgotten() == total && len(missing(box.payloads(), total)) == 0 {
			break
		}
	}
	if n := out.forgotten(); n != total {
		t.Errorf("%d of %d rows were acknowledged", n, total)
	}
	if m := missing(box.payloads(), total); len(m) > 0 {
		t.Errorf("%d rows are lost, the first is %d", len(m), m[0])
	}
	if n := cuts.Load(); n < 50 {
		t.Errorf("the link was cut %d times, want 50", n)
	}
	if err := firstsRise(box.payloads()); err != nil {
		t.Error(err)
	}
	t.Logf("%d cuts, %d rows, %d arrivals", cuts.Load(), total, len(box.payloads()))
	if !t.Failed() {
		t.Attr("injected", fmt.Sprint(cuts.Load()))
		t.Attr("survived", fmt.Sprint(cuts.Load()))
		t.Attr("lost", "0")
	}
}

// missing are the sequences from 1 to n that did not arrive.
func missing(payloads []string, n int) (lost []int) {
	seen := make([]bool, n+1)
	for _, p := range payloads {
		if i, err := strconv.Atoi(p); err == nil && i <= n {
			seen[i] = true
		}
	}
	for i := 1; i <= n; i++ {
		if !seen[i] {
			lost = append(lost, i)
		}
	}
	return lost
}

// firstsRise checks that rows arrive in order, repetitions aside.
func firstsRise(payloads []string) error {
	next := 1
	for _, p := range payloads {
		i, _ := strconv.Atoi(p)
		if i > next {
			return fmt.Errorf("row %d arrived before row %d", i, next)
		}
		if i == next {
			next++
		}
	}
	return nil
}

// When a real broker is killed the link is at the next one in less than 2 s, and what was
// not acknowledged goes there.
func TestLinkGoesToTheNextMosquitto(t *testing.T) {
	const config = "allow_anonymous true\nset_tcp_nodelay true\n"
	first, second := newMosquitto(t, config), newMosquitto(t, config)
	const held = 1500 * time.Millisecond
	up := make(chan time.Time, 9)
	l := NewLink(LinkOptions{URL: first.start() + "," + second.start(), ClientID: "g", Log: quiet, Subscribe: []string{"down/+"}, MaxBackoff: held,
		Spread: func() time.Duration { return 2 * time.Second }, Up: func(context.Context) { up <- time.Now() }})
	box := &rows{}
	box.add(50)
	u := NewUplink(l, box, UplinkOptions{Acks: AcksBroker, Log: quiet})
	defer run(t, l.Run)()
	defer run(t, u.Run)()
	<-up
	for _, dead := range []*mosquittoBroker{first, second} {
		time.Sleep(held) // so that it is none that closes soon, as of two with one id
		began := time.Now()
		dead.stop() // SIGKILL
		box.add(50)
		u.Wake()
		if took := (<-up).Sub(began); took >= 2*time.Second {
			t.Errorf("it took %v to the next broker", took)
		}
		dead.start() // the other one dies next
	}
	for began := time.Now(); u.Stats().Acked < 150; time.Sleep(10 * time.Millisecond) { // until another process has answered
		if time.Since(began) > 10*time.Second {
			t.Fatalf("%d of 150 rows are acknowledged", u.Stats().Acked)
		}
	}
}
