package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"

	"roomgate/cloud"
)

// maxKept bounds the topics of which the last retained message is remembered.
const maxKept = 10_000

// Received is a message of a gateway.
type Received struct {
	Gateway string
	Level   string // the topic below up/, as "event" or "state/{meeting_space_id}"
	// Contested says that a second gateway has this id, as a clone: the row is of another
	// one than those that came with a later BootID.
	Contested bool
	// Row says that it is of the gateway's log, and that it is handed on once; a receipt that the log did not take is none. Presence, state and heartbeat carry a
	// Sequence too, that of the last row by then: they are no rows.
	Row bool
	cloud.Envelope
}

// Handler takes a message. What it stores in tx is committed together with the
// knowledge that the message was taken; what it does elsewhere may be done twice, if the
// commit fails. An error takes the transaction back and the message comes again, after
// a second and at most a minute; until then the gateways of the same worker wait. Who
// cannot do anything with a message returns nil. Several workers call it at the same
// time, never two for one gateway.
type Handler func(ctx context.Context, tx Tx, r Received) error

// Consume keeps the backend connected until ctx ends and hands on what gateways send:
// each row of a gateway's log once, in the order of arrival, whenever this process or the
// broker dies. A message is acknowledged, to the broker and to the gateway, once the
// ledger has committed it; rows that are missing are asked for.
func (b *Backend) Consume(ctx context.Context, l Ledger, h Handler) error {
	if b.o.Gateway != "+" && !cloud.ValidGateway(b.o.Gateway) {
		return fmt.Errorf("gateway %q: want an id of 1 to 64 letters, digits, - _ . or + for all", b.o.Gateway)
	}
	var loops sync.WaitGroup
	defer loops.Wait()
	working, stop := context.WithCancel(ctx)
	defer stop()
	workers := make([]*worker, b.o.Workers)
	for i := range workers {
		workers[i] = &worker{Backend: b, ledger: l, handler: h, in: make(chan job, maxBatch)}
		loops.Go(func() { workers[i].run(working) })
	}
	of := func(gateway string) chan<- job { return workers[shard(gateway, len(workers))].in }
	giveUp := func(gateway string, lost span) {
		j := job{Received: Received{Gateway: gateway}, row: true, lost: lost, taken: func() {}}
		select {
		case of(gateway) <- j:
			b.o.Log.Error("rows of a gateway never came", "gateway", gateway, "from", lost.from, "to", lost.to)
		default: // at the next look
		}
	}
	deliver := func(ctx context.Context, m cloud.Message, taken func()) {
		j, ok := b.read(m)
		if !ok {
			taken()
			return
		}
		j.taken = taken
		b.answer(j)
		select {
		case of(j.Gateway) <- j:
		case <-ctx.Done(): // it comes again with the next connection
		}
	}
	if b.o.Source != nil {
		return b.pull(ctx, giveUp, deliver)
	}
	return b.run(ctx, []string{cloud.Topics{Gateway: b.o.Gateway}.Up("#")}, giveUp, deliver)
}

// shard is the worker of a gateway.
func shard(gateway string, of int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(gateway))
	return int(h.Sum32() % uint32(of))
}

// job is a message on its way to the handler.
type job struct {
	Received
	topic string
	row   bool   // of the gateway's log
	lost  span   // these rows will not come; it is no message
	first uint64 // row that the gateway keeps for us, of one that we have not known; 0: it does not say
	taken func()
}

// read is the message of a gateway; ok is false if nobody could do anything with it, or
// it was handed on before.
func (b *Backend) read(m cloud.Message) (j job, ok bool) {
	gateway, up, level, rest, ok := cloud.ParseTopic(m.Topic)
	if !ok || !up {
		return j, false
	}
	e, err := cloud.Decode(m.Payload)
	if err == nil && !cloud.TypeFits(level, e.Type) {
		err = &cloud.EnvelopeError{Field: "type", Problem: "does not fit the topic"}
	}
	if err != nil {
		if b.warn.Allow() {
			b.o.Log.Warn("message of a gateway is left out", "topic", m.Topic, "reason", err)
		}
		return j, false // it would be no better the next time
	}
	e.Retained = m.Retained
	row := isRow(level, e)
	if rest != "" {
		level += "/" + rest
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !row && m.Retained && b.kept[m.Topic] == e.ID { // it comes with each subscription
		return j, false
	}
	j = job{Received: Received{Gateway: gateway, Level: strings.Clone(level), Row: row, Envelope: e}, topic: m.Topic, row: row}
	if l := b.progress[gateway]; level == cloud.LevelHeartbeat && (l == nil || l.first == 0) {
		j.first = firstKept(e.Data)
	}
	return j, true
}

// isRow says whether a message is a row of the log. A receipt that the log did not take is none: older gateways gave it
// the number of the last row, and an id that does not end in it.
func isRow(level string, e cloud.Envelope) bool {
	switch level {
	case cloud.LevelEvent, cloud.LevelBooking, cloud.LevelMessage:
		return e.Sequence > 0
	case cloud.LevelReceipt:
		var r struct {
			Durable *bool `json:"durable"`
		}
		_ = json.Unmarshal(e.Data, &r)
		unstored := r.Durable != nil && !*r.Durable
		n, err := strconv.ParseUint(e.ID[strings.LastIndexByte(e.ID, '-')+1:], 10, 64)
		return e.Sequence > 0 && !unstored && err == nil && n == e.Sequence
	}
	return false
}

// firstKept is the first row that was not acknowledged when a heartbeat was made; 0: it
// does not say.
func firstKept(heartbeat json.RawMessage) uint64 {
	var h struct {
		Depth  *uint64 `json:"outbox_depth"`
		Newest uint64  `json:"log_newest"`
	}
	if json.Unmarshal(heartbeat, &h) != nil || h.Depth == nil || *h.Depth > h.Newest {
		return 0
	}
	return h.Newest - *h.Depth + 1
}
