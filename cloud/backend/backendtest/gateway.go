package backendtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"roomgate/cloud"
	"roomgate/cloud/broker"
)

// playedID is who a Gateway is that Open starts.
const playedID = "played"

// Gateway is a gateway that somebody plays, with a broker of its own. It has the real link
// and the real uplink; its log is in memory, and outlives Restart.
type Gateway struct {
	at     At
	uplink *cloud.Uplink
	link   *cloud.Link
	end    func() // ends this run of the gateway
	close  func() // ends the broker, if it is its own

	mu      sync.Mutex
	conn    net.Conn
	log     []cloud.Outgoing
	ids     []string
	lost    map[uint64]bool // rows that leave and do not arrive, the first time
	held    bool
	gone    uint64 // the cloud has the rows up to here
	boot    int
	carried map[string]bool // commands, by their ids
	answers func(id string, config json.RawMessage) (state string)
	beats   Beat
}

// At is where a gateway is.
type At struct {
	URL      string                                                               // of the broker
	ID       string                                                               // of the gateway
	Password func() (string, error)                                               // of its user, whose name is its id; nil: it has none
	Dial     func(ctx context.Context, network, address string) (net.Conn, error) // nil: a net.Dialer
}

// Beat is what a gateway says in its heartbeats beside how its log stands.
type Beat struct {
	Version  string `json:"version"`
	Revision uint64 `json:"config_revision"`
}

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// Open starts a gateway and its broker, on a free port of this machine.
func Open() (*Gateway, error) {
	b, err := broker.Open(broker.Options{Listen: "127.0.0.1:0", AllowAnonymousLoopback: true, Log: silent})
	if err != nil {
		return nil, err
	}
	g := &Gateway{at: At{URL: "mqtt://" + b.Addr().String(), ID: playedID}, lost: map[uint64]bool{}, carried: map[string]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() { _ = b.Run(ctx) })
	g.close = func() { cancel(); loop.Wait(); _ = b.Close() }
	g.start()
	return g, nil
}

// Join starts a gateway at a broker that is there, one of a fleet.
func Join(at At) *Gateway {
	g := &Gateway{at: at, lost: map[uint64]bool{}, carried: map[string]bool{}, close: func() {}}
	g.start()
	return g
}

// Answers says how the gateway answers configurations, claims and schedules from now on: with a receipt of the
// state that answer returns for a message, and for "" with none. Without it none is answered.
func (g *Gateway) Answers(answer func(id string, config json.RawMessage) (state string)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers = answer
}

// Beats says what the heartbeats say from now on.
func (g *Gateway) Beats(b Beat) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.beats = b
}

// URL is the broker's.
func (g *Gateway) URL() string { return g.at.URL }

// Close ends the gateway, and the broker of one that Open has started.
func (g *Gateway) Close() {
	g.end()
	g.close()
}

// start begins a run, which has another boot id, and waits until it is connected.
func (g *Gateway) start() {
	g.mu.Lock()
	g.boot++
	g.mu.Unlock()
	up := make(chan struct{}, 1)
	topics := cloud.Topics{Gateway: g.at.ID}
	var login func() (string, string, error)
	if g.at.Password != nil {
		login = cloud.LoginAs(g.at.ID, g.at.Password)
	}
	g.link = cloud.NewLink(cloud.LinkOptions{Login: login, URL: g.at.URL, ClientID: cloud.ClientID(g.at.ID), Log: silent, Dial: g.dial, MaxBackoff: time.Second,
		Subscribe: []string{topics.Down("+")}, Receive: g.receive, Up: func(context.Context) {
			select {
			case up <- struct{}{}:
			default:
			}
		}})
	g.uplink = cloud.NewUplink(g.link, outbox{g}, cloud.UplinkOptions{Log: silent, History: outbox{g}.history})
	ctx, cancel := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { _ = g.link.Run(ctx) })
	loops.Go(func() { _ = g.uplink.Run(ctx) })
	loops.Go(func() { g.beat(ctx, g.link) })
	g.end = func() { cancel(); loops.Wait() }
	<-up
}

// Restart ends the gateway and starts it again upon its log.
func (g *Gateway) Restart() {
	g.end()
	g.start()
}

// Leave ends the gateway until Restart.
func (g *Gateway) Leave() { g.end() }

func (g *Gateway) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dial := g.at.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	c, err := dial(ctx, network, address)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conn = c
	return c, err
}

// Cut breaks the connection; the gateway comes back by itself.
func (g *Gateway) Cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.conn.Close()
}

// receive takes what the backend says of the log.
func (g *Gateway) receive(_ context.Context, m cloud.Message) error {
	e, err := cloud.Decode(m.Payload)
	if err != nil {
		return nil
	}
	var d struct{ Sequence, From, To uint64 }
	_ = json.Unmarshal(e.Data, &d)
	switch e.Type {
	case cloud.TypeOf(cloud.LevelAck):
		g.uplink.Acked(d.Sequence)
	case cloud.TypeOf(cloud.LevelReplay):
		g.uplink.Replay(d.From, d.To)
	case cloud.TypeOf(cloud.LevelCommand):
		g.carryOut(e.ID)
	case cloud.TypeOf(cloud.LevelConfig), cloud.TypeOf(cloud.LevelClaim), cloud.TypeOf(cloud.LevelSchedule):
		g.answer(e)
	}
	return nil
}

// carryOut carries out a command, once.
func (g *Gateway) carryOut(id string) {
	g.mu.Lock()
	again := g.carried[id]
	g.carried[id] = true
	g.mu.Unlock()
	if !again {
		g.receipt(id, "done")
		g.uplink.Wake()
	}
}

// Carried says whether the gateway has carried out a command.
func (g *Gateway) Carried(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.carried[id]
}

// answer answers what asks for a receipt.
func (g *Gateway) answer(e cloud.Envelope) {
	g.mu.Lock()
	answer := g.answers
	g.mu.Unlock()
	if answer == nil {
		return
	}
	if state := answer(e.ID, e.Data); state != "" {
		g.receipt(e.ID, state)
		g.uplink.Wake()
	}
}

// Add puts events into the log.
func (g *Gateway) Add(n int) {
	for range n {
		g.put(cloud.LevelEvent, cloud.TypeOf(cloud.LevelEvent)+".doorForced", json.RawMessage(`{"eventType":"doorForced"}`))
	}
	g.uplink.Wake()
}

// Online says that the gateway is online, as one does that connects.
func (g *Gateway) Online() {
	g.mu.Lock()
	data, _ := json.Marshal(map[string]string{"state": "online", "session": fmt.Sprint("session-", g.boot), "version": g.beats.Version})
	g.mu.Unlock()
	payload, _ := cloud.Envelope{ID: fmt.Sprint("presence-", time.Now().UnixNano()), Source: "roomgate/" + g.at.ID, Type: cloud.TypeOf(cloud.LevelPresence), Time: time.Now().UTC(), Data: data}.Encode()
	_ = g.link.Publish(context.Background(), cloud.Message{Topic: cloud.Topics{Gateway: g.at.ID}.Up(cloud.LevelPresence), Payload: payload, QoS: 1, Retained: true})
}

// Scheduled says by which revision a meeting space has its schedule.
func (g *Gateway) Scheduled(space string, revision uint64) {
	data, _ := json.Marshal(map[string]any{"meeting_space_id": space, "schedule_revision": revision})
	payload, _ := cloud.Envelope{ID: fmt.Sprint("state-", time.Now().UnixNano()), Source: "roomgate/" + g.at.ID, Type: cloud.TypeOf(cloud.LevelState), Time: time.Now().UTC(), Data: data}.Encode()
	_ = g.link.Publish(context.Background(), cloud.Message{Topic: cloud.Topics{Gateway: g.at.ID}.Up(cloud.LevelState, space), Payload: payload, QoS: 1, Retained: true})
}

// Event puts an event with a reason into the log.
func (g *Gateway) Event(kind, reason string) {
	data, _ := json.Marshal(map[string]any{"eventType": kind, "details": map[string]string{"reason": reason}})
	g.put(cloud.LevelEvent, cloud.TypeOf(cloud.LevelEvent)+"."+kind, data)
	g.uplink.Wake()
}

// Expire puts the receipts of commands into the log that came too late.
func (g *Gateway) Expire(commands ...string) {
	for _, id := range commands {
		g.receipt(id, "expired")
	}
	g.uplink.Wake()
}

func (g *Gateway) receipt(id, state string) {
	says := map[string]any{"command_id": id, "state": state, "received_at": time.Now().UTC()}
	if state == "rejected" {
		says["code"], says["reason"] = "invalid", "it was played so"
	}
	data, _ := json.Marshal(says)
	g.put(cloud.LevelReceipt, cloud.TypeOf(cloud.LevelReceipt), data)
}

func (g *Gateway) put(level, kind string, data json.RawMessage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	seq := uint64(len(g.log) + 1)
	e := cloud.Envelope{ID: fmt.Sprintf("row-%06d", seq), Source: "roomgate/" + g.at.ID, Type: kind, Time: time.Now().UTC(), Sequence: seq, BootID: fmt.Sprint("boot-", g.boot), Data: data}
	payload, _ := e.Encode()
	g.log = append(g.log, cloud.Outgoing{Seq: seq, Message: cloud.Message{Topic: cloud.Topics{Gateway: g.at.ID}.Up(level), Payload: payload, QoS: 1}})
	g.ids = append(g.ids, e.ID)
}

// Lose lets rows leave and not arrive, until the backend asks for them.
func (g *Gateway) Lose(sequences ...uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, seq := range sequences {
		g.lost[seq] = true
	}
}

// Hold keeps the log from leaving by itself, Release lets it go.
func (g *Gateway) Hold() { g.hold(true) }

// Release ends Hold.
func (g *Gateway) Release() { g.hold(false); g.uplink.Wake() }

func (g *Gateway) hold(held bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = held
}

// Repeat sends rows of the log once more, or before their time, from and to included.
func (g *Gateway) Repeat(from, to uint64) error {
	g.mu.Lock()
	again := slices.Clone(g.log[from-1 : to])
	g.mu.Unlock()
	for _, row := range again {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		err := g.link.Publish(ctx, row.Message)
		cancel()
		if err != nil {
			return fmt.Errorf("send row %d: %w", row.Seq, err)
		}
	}
	return nil
}

// Rows is how many the log has.
func (g *Gateway) Rows() int { return len(g.IDs()) }

// IDs are those of the log, sorted.
func (g *Gateway) IDs() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.ids)
}

// Forgotten says whether the backend has acknowledged the whole log.
func (g *Gateway) Forgotten() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.gone >= uint64(len(g.log))
}

// outbox is the log as the uplink sees it.
type outbox struct{ g *Gateway }

// Next are rows that are not acknowledged, without those that are to be lost.
func (o outbox) Next(after uint64, limit int) ([]cloud.Outgoing, error) {
	o.g.mu.Lock()
	defer o.g.mu.Unlock()
	if o.g.held {
		return nil, nil
	}
	var some []cloud.Outgoing
	for _, row := range o.g.log[min(max(after, o.g.gone), uint64(len(o.g.log))):] {
		if len(some) == limit {
			break
		}
		if !o.g.lost[row.Seq] {
			some = append(some, row)
		}
	}
	return some, nil
}

// history are rows for a replay: nothing is lost of these.
func (o outbox) history(after uint64, limit int) ([]cloud.Outgoing, error) {
	o.g.mu.Lock()
	defer o.g.mu.Unlock()
	rest := o.g.log[min(after, uint64(len(o.g.log))):]
	return slices.Clone(rest[:min(limit, len(rest))]), nil
}

// Forget notes what the backend has acknowledged.
func (o outbox) Forget(_ context.Context, upTo uint64) error {
	o.g.mu.Lock()
	defer o.g.mu.Unlock()
	o.g.gone = max(o.g.gone, upTo)
	return nil
}

// beat sends heartbeats, which say how many rows wait.
func (g *Gateway) beat(ctx context.Context, link *cloud.Link) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		g.mu.Lock()
		said := struct {
			Beat
			Newest uint64 `json:"log_newest"`
			Depth  uint64 `json:"outbox_depth"`
		}{g.beats, uint64(len(g.log)), uint64(len(g.log)) - g.gone}
		g.mu.Unlock()
		data, _ := json.Marshal(said)
		payload, _ := cloud.Envelope{ID: fmt.Sprint("beat-", time.Now().UnixNano()), Source: "roomgate/" + g.at.ID, Type: cloud.TypeOf(cloud.LevelHeartbeat), Time: time.Now().UTC(), Data: data}.Encode()
		_ = link.Publish(ctx, cloud.Message{Topic: cloud.Topics{Gateway: g.at.ID}.Up(cloud.LevelHeartbeat), Payload: payload, QoS: 1})
	}
}
