package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/cloud"
	"roomgate/store"
)

// A light gateway has the real link and outbox, and a log in a database that all of them share. It
// has no devices: it beats, says how its room is, answers what comes as done, and its log begins
// with an event.

// lightRow is a row of its log.
type lightRow struct {
	Level string          `json:"level"`
	Type  string          `json:"type"`
	Time  time.Time       `json:"time"`
	Data  json.RawMessage `json:"data"`
}

// lightLog is how many rows each keeps.
const lightLog = 1000

// lightBeat is how often each beats.
const lightBeat = 30 * time.Second

// lightGateway is one of them.
type lightGateway struct {
	db     *store.DB
	log    store.Queue[lightRow]
	topics cloud.Topics
	room   string // its meeting space
	boot   string
	began  time.Time
	link   *cloud.Link
	uplink *cloud.Uplink

	mu       sync.Mutex
	revision uint64 // of the configuration
	answered map[string]bool
}

func openLightStore(ctx context.Context, dir string) (*store.DB, error) {
	db, _, err := store.Open(ctx, filepath.Join(dir, "fleet.db"), store.Options{MaxSize: 1 << 30, Log: slog.New(slog.DiscardHandler)})
	return db, err
}

// openLight makes a gateway upon a database.
func openLight(db *store.DB, url string, number int, login func() (string, string, error)) *lightGateway {
	id := simName(number)
	g := &lightGateway{db: db, log: store.NewQueue[lightRow]("light-"+id, lightLog, store.DropOldest), topics: cloud.Topics{Gateway: id},
		room: fmt.Sprintf("7c0b2a54-3f0e-4d8e-9a51-%012d", number), boot: fmt.Sprintf("boot-%d", time.Now().Unix()), began: time.Now(), answered: map[string]bool{}}
	silent := slog.New(slog.DiscardHandler)
	presence := func(state string) func() cloud.Message {
		return func() cloud.Message {
			return g.message(cloud.LevelPresence, g.topics.Up(cloud.LevelPresence), map[string]string{"state": state, "session": g.boot, "version": version}, true)
		}
	}
	g.link = cloud.NewLink(cloud.LinkOptions{URL: url, ClientID: cloud.ClientID(id), Login: login, Will: presence("offline"), Birth: presence("online"), Farewell: presence("offline"),
		Subscribe: []string{g.topics.Down("+")}, Receive: g.receive, Spread: func() time.Duration { return 2 * time.Second }, Log: silent})
	g.uplink = cloud.NewUplink(g.link, g, cloud.UplinkOptions{History: g.rows, Log: silent, ForgetWithin: time.Minute})
	return g
}

// message is one that is no row.
func (g *lightGateway) message(level, topic string, data any, retained bool) cloud.Message {
	raw, _ := json.Marshal(data) // texts, numbers and times always can be encoded
	e := cloud.Envelope{ID: fmt.Sprintf("%s-%s-%d", g.boot, level, time.Now().UnixNano()), Source: "roomgate/" + g.topics.Gateway, Type: cloud.TypeOf(level),
		Time: time.Now().UTC(), BootID: g.boot, TimeTrust: "trusted", Data: raw}
	payload, _ := e.Encode()
	return cloud.Message{Topic: topic, Payload: payload, QoS: 1, Retained: retained}
}

// Run works until ctx ends.
func (g *lightGateway) Run(ctx context.Context) error {
	if err := g.put(ctx, cloud.LevelEvent, cloud.TypeOf(cloud.LevelEvent)+".deviceOnline", map[string]any{"eventType": "deviceOnline", "timestamp": g.began.UTC(),
		"details": map[string]string{"meeting_space_id": g.room, "device": "lock"}}); err != nil {
		return err
	}
	loops, ctx := errgroup.WithContext(ctx)
	loops.Go(func() error { return g.link.Run(ctx) })
	loops.Go(func() error { return g.uplink.Run(ctx) })
	loops.Go(func() error { g.beat(ctx); return nil })
	return loops.Wait()
}

// put writes a row.
func (g *lightGateway) put(ctx context.Context, level, kind string, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	row := lightRow{level, kind, time.Now().UTC(), raw}
	err = g.db.Update(ctx, func(tx *store.Tx) error { _, err := g.log.Push(tx, row); return err })
	g.uplink.Wake()
	return err
}

// beat says how it is, with the first beat how its room is, too.
func (g *lightGateway) beat(ctx context.Context) {
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lightBeat):
		}
		if n == 0 {
			state := map[string]any{"meeting_space_id": g.room, "name": "Room", "status": "available", "time": time.Now().UTC(), "devices": []map[string]string{
				{"device": "lock", "device_id": "door", "device_type": "lock", "value": "closed", "status": "online"}}}
			_ = g.link.Publish(ctx, g.message(cloud.LevelState, g.topics.Up(cloud.LevelState, g.room), state, true))
		}
		var newest uint64
		if g.db.View(func(tx *store.Tx) error { newest = g.log.Last(tx); return nil }) != nil {
			continue
		}
		g.mu.Lock()
		says := map[string]any{"uptime_s": int(time.Since(g.began).Seconds()), "version": version, "outbox_depth": newest - min(newest, g.uplink.Stats().Acked), "log_newest": newest, "config_revision": g.revision}
		g.mu.Unlock()
		_ = g.link.Publish(ctx, g.message(cloud.LevelHeartbeat, g.topics.Up(cloud.LevelHeartbeat), says, false)) // else with the next
	}
}

// receive takes what the cloud sends.
func (g *lightGateway) receive(ctx context.Context, m cloud.Message) error {
	e, err := cloud.Decode(m.Payload)
	if err != nil {
		return nil // nobody can do anything with it
	}
	var said struct{ Sequence, From, To, Revision uint64 }
	_ = json.Unmarshal(e.Data, &said)
	switch e.Type {
	case cloud.TypeOf(cloud.LevelAck):
		g.uplink.Acked(said.Sequence)
		return nil
	case cloud.TypeOf(cloud.LevelReplay):
		g.uplink.Replay(said.From, said.To)
		return nil
	case cloud.TypeOf(cloud.LevelConfig):
		g.mu.Lock()
		g.revision = max(g.revision, said.Revision)
		g.mu.Unlock()
	}
	g.mu.Lock()
	again := g.answered[e.ID]
	if g.answered[e.ID] = true; len(g.answered) > lightLog {
		clear(g.answered)
	}
	g.mu.Unlock()
	if again {
		return nil
	}
	now := time.Now().UTC()
	return g.put(ctx, cloud.LevelReceipt, cloud.TypeOf(cloud.LevelReceipt), map[string]any{"command_id": e.ID, "state": "done", "received_at": now, "finished_at": now})
}

// Next are rows that the cloud does not have.
func (g *lightGateway) Next(after uint64, limit int) ([]cloud.Outgoing, error) {
	return g.rows(after, limit)
}

// rows are some of the log.
func (g *lightGateway) rows(after uint64, limit int) (all []cloud.Outgoing, err error) {
	err = g.db.View(func(tx *store.Tx) error {
		items, err := g.log.After(tx, after, limit)
		for _, i := range items {
			e := cloud.Envelope{ID: fmt.Sprintf("%s-%d", g.boot, i.Seq), Source: "roomgate/" + g.topics.Gateway, Type: i.Value.Type, Time: i.Value.Time,
				Sequence: i.Seq, BootID: g.boot, TimeTrust: "trusted", Data: i.Value.Data}
			payload, encodeErr := e.Encode()
			err = cmp.Or(err, encodeErr)
			all = append(all, cloud.Outgoing{Seq: i.Seq, Message: cloud.Message{Topic: g.topics.Up(i.Value.Level), Payload: payload, QoS: 1}})
		}
		return err
	})
	return all, err
}

// Forget removes what the cloud has.
func (g *lightGateway) Forget(ctx context.Context, upTo uint64) error {
	return g.db.Update(ctx, func(tx *store.Tx) error { _, err := g.log.Trim(tx, upTo); return err })
}
