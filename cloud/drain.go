package cloud

import (
	"context"
	"sync"
	"time"
)

// How long a backend may stay silent on a live link before rows are sent
// again: the first time, and at most after it has been silent every time.
const (
	patience    = time.Minute
	maxPatience = 15 * time.Minute
)

// aheadWindows is how many windows an uplink goes ahead of a backend that
// acknowledges: a broker's queue for it is not endless (Mosquitto: 1000).
const aheadWindows = 10

// retryOutbox is the pause after the outbox could not be read, lookEvery how
// often it is looked at without being woken.
const (
	retryOutbox = time.Second
	lookEvery   = time.Minute
)

// draining is an uplink's work on one connection.
type draining struct {
	*Uplink
	ctx    context.Context // ends with the uplink or the connection
	s      *session
	window chan struct{} // one token per message in flight
	flight flight
	cursor uint64     // the last row taken for sending
	batch  []Outgoing // read and not taken
	again  []Outgoing // the same for replays
	turn   bool       // the next row is a replay's, if there is one
}

// drain works until the connection or the uplink ends.
func (u *Uplink) drain(ctx context.Context, s *session) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(s.ctx, cancel)()
	defer cancel()
	u.mu.Lock()
	d := &draining{Uplink: u, ctx: ctx, s: s, window: make(chan struct{}, u.o.Window),
		cursor: u.stats.Acked}
	u.heard, u.progress, u.patience = false, time.Now(), patience
	if !u.left.IsZero() {
		u.waits, u.left = u.waits.Add(u.progress.Sub(u.left)), time.Time{}
	}
	u.mu.Unlock()
	defer func() {
		unproven := d.flight.replaying()
		u.mu.Lock()
		defer u.mu.Unlock()
		u.left = time.Now()
		u.replays = append(unproven, u.replays...)
	}()
	for ctx.Err() == nil {
		row, replay, ok := d.next()
		if !ok {
			d.wait()
		} else if d.enter() {
			d.send(row, replay)
		} else if replay {
			d.flight.add(row.Seq, replay) // the next connection sends it
		}
	}
}

// next takes the row to send, turn and turn about with replays.
func (d *draining) next() (row Outgoing, replay, ok bool) {
	d.turn = !d.turn
	if d.turn {
		if row, ok = d.nextReplay(); ok {
			return row, true, true
		}
	}
	if row, ok = d.nextRow(); ok {
		return row, false, true
	}
	row, ok = d.nextReplay()
	return row, true, ok
}

func (d *draining) nextRow() (Outgoing, bool) {
	if !d.mayGoAhead() {
		return Outgoing{}, false
	}
	if len(d.batch) == 0 {
		d.batch, _ = d.read(d.box.Next, d.cursor)
	}
	if len(d.batch) == 0 {
		return Outgoing{}, false
	}
	row := d.batch[0]
	d.batch, d.cursor = d.batch[1:], row.Seq
	return row, true
}

// mayGoAhead holds rows back from a backend that acknowledges and is behind.
func (d *draining) mayGoAhead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.heard || d.cursor < d.stats.Acked+uint64(aheadWindows*d.o.Window)
}

func (d *draining) nextReplay() (Outgoing, bool) {
	d.mu.Lock()
	if len(d.replays) == 0 {
		d.mu.Unlock()
		return Outgoing{}, false
	}
	span := d.replays[0]
	d.mu.Unlock()
	if len(d.again) == 0 {
		var ok bool
		if d.again, ok = d.read(d.o.History, span.from-1); !ok {
			return Outgoing{}, false
		}
	}
	if len(d.again) == 0 || d.again[0].Seq > span.to {
		d.again = nil
		d.replayed(span.to)
		return d.nextReplay()
	}
	row := d.again[0]
	d.again = d.again[1:]
	d.replayed(row.Seq)
	return row, true
}

// replayed shortens the first replay. Another connection goes on from there, and begins with
// what the broker has not acknowledged on this one.
func (d *draining) replayed(seq uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.replays[0].from = seq + 1; d.replays[0].from > d.replays[0].to {
		d.replays, d.again = d.replays[1:], nil
	}
}

// read is false if the rows could not be read; then it has paused, and sees
// to it that they are asked for again.
func (d *draining) read(next func(uint64, int) ([]Outgoing, error), after uint64) ([]Outgoing, bool) {
	rows, err := next(after, d.o.Window)
	if err != nil {
		d.o.Log.Error("outbox cannot be read, trying again", "reason", err)
		sleep(d.ctx, retryOutbox)
		signal(d.wake)
		return nil, false
	}
	return rows, true
}

// enter waits for room in the window and for the rate.
func (d *draining) enter() bool {
	if d.limit != nil && d.limit.Wait(d.ctx) != nil {
		return false
	}
	select {
	case d.window <- struct{}{}:
		return true
	case <-d.ctx.Done():
		return false
	}
}

func (d *draining) send(row Outgoing, replay bool) {
	d.count(row, replay)
	slot := d.flight.add(row.Seq, replay)
	if err := row.check(); err != nil {
		d.o.Log.Error("outbox row is given up", "sequence", row.Seq, "reason", err)
		d.mu.Lock()
		d.stats.Skipped++
		d.mu.Unlock()
		d.landed(slot)
		return
	}
	if row.QoS == 0 {
		row.QoS = 1 // an outbox row without proof of delivery would make no sense
	}
	d.s.send(d.ctx, row.Message, func(err error) {
		if err == nil {
			d.landed(slot)
		}
	})
}

func (d *draining) count(row Outgoing, replay bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stats.Sent++
	if replay {
		d.stats.Replayed++
		return
	}
	if d.stats.Last == d.stats.Acked {
		d.progress = time.Now()
		d.waits = d.progress
	}
	d.stats.Last = max(d.stats.Last, row.Seq)
}

// landed is called for each PUBACK.
func (d *draining) landed(s *slot) {
	upTo := d.flight.land(s)
	<-d.window
	if d.o.Acks == AcksBroker {
		d.advance(upTo)
	}
}

// wait sleeps until there may be something to do.
func (d *draining) wait() {
	t := time.NewTimer(d.overdueIn())
	defer t.Stop()
	select {
	case <-d.ctx.Done():
	case <-d.wake:
	case <-t.C:
		d.rewind()
	}
}

// overdueIn is how long the backend may still stay silent, at most lookEvery.
func (d *draining) overdueIn() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.o.Acks == AcksBroker || d.stats.Acked == d.stats.Last {
		return lookEvery
	}
	return min(max(time.Until(d.progress.Add(d.patience)), 0), lookEvery)
}

// rewind begins again with the first row that is not acknowledged.
func (d *draining) rewind() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.o.Acks == AcksBroker || d.stats.Acked == d.stats.Last || time.Since(d.progress) < d.patience {
		return
	}
	d.o.Log.Warn("backend does not acknowledge, sending again",
		"from", d.stats.Acked+1, "to", d.stats.Last, "silent", d.patience)
	d.cursor, d.batch = d.stats.Acked, nil
	d.progress = time.Now()
	d.patience = min(2*d.patience, maxPatience)
}

// slot is a message in flight.
type slot struct {
	seq    uint64
	replay bool
	landed bool
}

// flight is what one connection has sent and the broker has not acknowledged,
// in the order of sending.
type flight struct {
	mu    sync.Mutex
	slots []*slot
	upTo  uint64
}

func (f *flight) add(seq uint64, replay bool) *slot {
	s := &slot{seq: seq, replay: replay}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slots = append(f.slots, s)
	return s
}

// land marks a slot and returns the sequence up to which all rows landed.
func (f *flight) land(s *slot) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.landed = true
	for len(f.slots) > 0 && f.slots[0].landed {
		if !f.slots[0].replay {
			f.upTo = f.slots[0].seq
		}
		f.slots = f.slots[1:]
	}
	return f.upTo
}

// replaying are the rows of replays that have not landed.
func (f *flight) replaying() (spans []span) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.slots {
		if !s.replay || s.landed {
			continue
		}
		if n := len(spans); n > 0 && spans[n-1].to+1 == s.seq {
			spans[n-1].to = s.seq
		} else {
			spans = append(spans, span{s.seq, s.seq})
		}
	}
	return spans
}
