package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/cloud"
	"roomgate/cloud/broker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// site is a broker, a backend and a gateway, each on a cable that can be cut.
type site struct {
	t    *testing.T
	b    *broker.Broker
	mu   sync.Mutex
	ends map[string]net.Conn
	out  bool
	wg   sync.WaitGroup
}

func newSite(t *testing.T) *site {
	b, err := broker.Open(broker.Options{AllowAnonymousLoopback: true, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, b: b, ends: map[string]net.Conn{}}
	t.Cleanup(func() {
		_ = b.Close()
		s.wg.Wait()
	})
	return s
}

func (s *site) dial(who string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.out {
			return nil, errors.New("unplugged")
		}
		near, far := net.Pipe()
		s.ends[who] = near
		s.wg.Go(func() { _ = s.b.Serve(far) })
		return near, nil
	}
}

func (s *site) cut(who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.ends[who]; c != nil {
		_ = c.Close()
	}
}

func (s *site) unplug(out bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = out
}

// start runs a loop until the test ends.
func (s *site) start(f func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	})
}

func (s *site) backend() *Backend {
	b, err := Open(Options{URL: "mqtt://cloud", ClientID: "backend", Dial: s.dial("backend"), Log: quiet})
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// gateway is the least that answers to the name.
type gateway struct {
	mu     sync.Mutex
	rows   []cloud.Outgoing
	gone   uint64
	boot   string
	heard  []cloud.Envelope
	link   *cloud.Link
	uplink *cloud.Uplink
}

func (s *site) gateway() *gateway {
	g := &gateway{boot: "b1"}
	topics := cloud.Topics{Gateway: "g"}
	g.link = cloud.NewLink(cloud.LinkOptions{
		URL: "mqtt://cloud", ClientID: "g", Dial: s.dial("g"), Log: quiet,
		Subscribe: []string{topics.Down("#")}, Receive: g.receive,
	})
	g.uplink = cloud.NewUplink(g.link, g, cloud.UplinkOptions{Log: quiet})
	s.start(g.link.Run)
	s.start(g.uplink.Run)
	return g
}

func (g *gateway) receive(_ context.Context, m cloud.Message) error {
	e, err := cloud.Decode(m.Payload)
	if err != nil {
		return nil
	}
	var at struct{ Sequence, From, To uint64 }
	_ = json.Unmarshal(e.Data, &at)
	switch e.Type {
	case "roomgate.ack":
		g.uplink.Acked(at.Sequence)
	case "roomgate.replay":
		g.uplink.Replay(at.From, at.To)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.heard = append(g.heard, e)
	return nil
}

// heardOf returns the messages of one type.
func (g *gateway) heardOf(kind string) (all []cloud.Envelope) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range g.heard {
		if e.Type == kind {
			all = append(all, e)
		}
	}
	return all
}

func (g *gateway) event(seq uint64) cloud.Message {
	b, _ := cloud.Envelope{
		ID: fmt.Sprint(g.boot, "-", seq), Source: "roomgate/g", Type: "roomgate.event.doorForced", Sequence: seq, BootID: g.boot,
	}.Encode()
	return cloud.Message{Topic: cloud.Topics{Gateway: "g"}.Up(cloud.LevelEvent), Payload: b, QoS: 1}
}

func (g *gateway) add(n int) {
	g.mu.Lock()
	for range n {
		seq := uint64(len(g.rows) + 1)
		g.rows = append(g.rows, cloud.Outgoing{Seq: seq, Message: g.event(seq)})
	}
	g.mu.Unlock()
	g.uplink.Wake()
}

func (g *gateway) Next(after uint64, limit int) ([]cloud.Outgoing, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rest := g.rows[min(max(after, g.gone), uint64(len(g.rows))):]
	return slices.Clone(rest[:min(limit, len(rest))]), nil
}

func (g *gateway) Forget(_ context.Context, upTo uint64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = max(g.gone, upTo)
	return nil
}

func (g *gateway) forgotten() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.gone
}

// reader keeps what is handed on.
type reader struct {
	mu     sync.Mutex
	seqs   []uint64
	ids    []string
	levels []string
	marks  []string // the levels of those that are rows
	fail   int      // so many calls fail
}

func (r *reader) take(_ context.Context, _ Tx, e Received) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail > 0 {
		r.fail--
		return errors.New("database is busy")
	}
	r.seqs, r.ids, r.levels = append(r.seqs, e.Sequence), append(r.ids, e.ID), append(r.levels, e.Level)
	if e.Row {
		r.marks = append(r.marks, e.Level)
	}
	return nil
}

// marked are the levels of the rows.
func (r *reader) marked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.marks)
}

// heard are the levels of what was handed on.
func (r *reader) heard() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.levels)
}

func (r *reader) all() []uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seqs)
}

// eachOnce wants 1 to n, each once, in any order.
func eachOnce(t *testing.T, got []uint64, n int) {
	t.Helper()
	slices.Sort(got)
	for i, seq := range got {
		if seq != uint64(i+1) {
			t.Fatalf("row %d where %d was expected, of %d", seq, i+1, len(got))
		}
	}
	if len(got) != n {
		t.Errorf("%d rows were handed on, want %d", len(got), n)
	}
}

func TestEachRowOnceOverCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		var r reader
		s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), r.take) })
		time.Sleep(3 * time.Second)
		for i := range 60 {
			g.add(20)
			time.Sleep(time.Duration(i) * 37 * time.Millisecond)
			s.cut([]string{"g", "backend"}[i%2])
			if i%10 == 0 {
				r.mu.Lock()
				r.fail = 1
				r.mu.Unlock()
			}
		}
		time.Sleep(5 * time.Minute)
		eachOnce(t, r.all(), 1200)
		if n := g.forgotten(); n != 1200 {
			t.Errorf("the gateway forgot up to %d of 1200", n)
		}
	})
}

func TestCommandReachesTheGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		s.start(b.Run)
		time.Sleep(3 * time.Second)
		if err := b.Run(t.Context()); !errors.Is(err, ErrRunning) {
			t.Errorf("second Run: %v", err)
		}
		s.unplug(true)
		s.cut("backend")
		synctest.Wait()
		time.AfterFunc(30*time.Second, func() { s.unplug(false) })
		id, err := b.Send(t.Context(), "g", Command{MeetingSpaceID: "s", DeviceType: "lock", Action: "open", TTL: 30})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got := g.heardOf("roomgate.command")
		if len(got) != 1 || got[0].ID != id || got[0].Source != "backend/backend" {
			t.Fatalf("the gateway heard %+v", got)
		}
		if want := `{"meeting_space_id":"s","device_type":"lock","action":"open","ttl_s":30}`; string(got[0].Data) != want {
			t.Errorf("data is %s", got[0].Data)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.unplug(true)
		s.cut("backend")
		synctest.Wait()
		if _, err := b.Send(short, "g", Command{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without a connection: %v", err)
		}
		if _, err := b.Send(short, "g/#", Command{}); err == nil {
			t.Error("a gateway with a wildcard was accepted")
		}
	})
}

func TestRetainedAndForeignMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b, g := s.backend(), s.gateway()
		time.Sleep(3 * time.Second)
		state, _ := cloud.Envelope{ID: "s1", Source: "g", Type: "roomgate.state", Sequence: 40}.Encode()
		wrong, _ := cloud.Envelope{ID: "w", Source: "g", Type: "roomgate.command"}.Encode()
		for _, m := range []cloud.Message{
			{Topic: "roomgate/v1/g/up/state/aurora", Payload: state, QoS: 1, Retained: true},
			{Topic: "roomgate/v1/g/up/presence", Payload: []byte("not JSON"), QoS: 1, Retained: true},
			{Topic: "roomgate/v1/g/up/heartbeat", Payload: wrong, QoS: 1, Retained: true},
		} {
			if err := g.link.Publish(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		var r reader
		s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), r.take) })
		time.Sleep(3 * time.Second)
		s.cut("backend")
		time.Sleep(3 * time.Second)
		g.add(2)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if !slices.Equal(r.ids, []string{"s1", "b1-1", "b1-2"}) || r.levels[0] != "state/aurora" {
			t.Errorf("handed on %v of %v", r.ids, r.levels)
		}
		if n := len(g.heardOf("roomgate.replay")); n != 0 {
			t.Error("a retained message was taken for a gap in the stream")
		}
	})
}

func TestOpenChecks(t *testing.T) {
	for _, o := range []Options{{URL: "http://x", ClientID: "b"}, {URL: "mqtt://x"}} {
		if _, err := Open(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	b, err := Open(Options{URL: "mqtt://x", ClientID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	b.o.Gateway = "a/b"
	if err := b.Consume(t.Context(), NewMemory(), nil); err == nil {
		t.Error("a gateway with a slash was accepted")
	}
}

// TestSend sends each message that has a method, and reads its receipt.
func TestSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		g, b := s.gateway(), s.backend()
		s.start(func(ctx context.Context) error { return b.Consume(ctx, NewMemory(), (&reader{}).take) })
		time.Sleep(time.Second) // until it runs
		code := cloud.NewCode()
		if _, err := b.Claim(t.Context(), "g", "7K3M", Claim{}); err == nil {
			t.Error("half a claim code was sent")
		}
		_, err1 := b.Claim(t.Context(), "g", code, Claim{Organization: "Landlord"})
		_, err2 := b.Configure(t.Context(), "g", Configuration{Revision: 3, Users: []json.RawMessage{}})
		if err := errors.Join(err1, err2, b.Replay(t.Context(), "g", 7, 0)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for kind, want := range map[string]string{"config": `{"revision":3,"users":[]}`, "replay": `{"from":7}`} {
			if got := g.heardOf("roomgate." + kind); len(got) != 1 || string(got[0].Data) != want {
				t.Errorf("the gateway heard %v of %s, want %s once", got, kind, want)
			}
		}
		var sealed SealedClaim
		claims := g.heardOf("roomgate.claim")
		if len(claims) != 1 || json.Unmarshal(claims[0].Data, &sealed) != nil {
			t.Fatalf("the gateway heard %v of a claim", claims)
		}
		if raw, err := cloud.Unseal(code, cloud.Topics{Gateway: "g"}.Down(cloud.LevelClaim), sealed.Sealed); err != nil || !strings.Contains(string(raw), "Landlord") {
			t.Errorf("the claim is %s, %v", raw, err)
		}
	})
}
