package backend

import (
	"context"
	"fmt"
	"time"

	"roomgate/cloud"
)

// maxBatch is how many messages one transaction has at most.
const maxBatch = 256

// worker takes the messages of some of the gateways.
type worker struct {
	*Backend
	ledger  Ledger
	handler Handler
	in      chan job
}

func (w *worker) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-w.in:
			batch := []job{first}
			for more := true; more && len(batch) < maxBatch; {
				select {
				case j := <-w.in:
					batch = append(batch, j)
				default:
					more = false
				}
			}
			w.take(ctx, batch)
		}
	}
}

// take stores a batch, or each of it alone if that fails, until it is stored.
func (w *worker) take(ctx context.Context, batch []job) {
	for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, time.Minute) {
		err := w.store(ctx, batch)
		if err == nil {
			return
		}
		if len(batch) > 1 {
			for i := range batch {
				w.take(ctx, batch[i:i+1])
			}
			return
		}
		w.o.Log.Error("message of a gateway cannot be taken, trying again", "gateway", batch[0].Gateway, "type", batch[0].Type, "id", batch[0].ID, "in", pause, "reason", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// store hands a batch to the handler in one transaction.
func (w *worker) store(ctx context.Context, batch []job) error {
	var ledger map[string]*progress
	var fresh []job
	err := w.ledger.Update(ctx, func(tx Tx) (err error) {
		if ledger, err = readLedger(tx, batch); err != nil {
			return err
		}
		fresh = w.sift(ledger, batch)
		for _, j := range fresh {
			if err := w.handler(ctx, tx, j.Received); err != nil {
				return err
			}
		}
		for gateway, l := range ledger {
			if err := tx.SetProgress(gateway, l.encode()); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		w.stored(batch, fresh, ledger)
	}
	return err
}

// readLedger reads the progress of every gateway of which a batch tells something.
func readLedger(tx Tx, batch []job) (map[string]*progress, error) {
	ledger := map[string]*progress{}
	for _, j := range batch {
		if !j.counts() || ledger[j.Gateway] != nil {
			continue
		}
		text, err := tx.Progress(j.Gateway)
		if err == nil {
			ledger[j.Gateway], err = readProgress(text)
		}
		if err != nil {
			return nil, fmt.Errorf("read the ledger of %s: %w", j.Gateway, err)
		}
	}
	return ledger, nil
}

// counts says whether a job changes the progress of its gateway.
func (j *job) counts() bool { return j.row || j.first > 0 }

// sift notes a batch in the progress of its gateways, and returns what is to be handed on.
func (w *worker) sift(ledger map[string]*progress, batch []job) (fresh []job) {
	now := time.Now()
	for _, j := range batch {
		l := ledger[j.Gateway]
		switch {
		case !j.counts():
		case j.lost.to > 0:
			l.close(j.lost)
		case j.first > 0 && l.first == 0:
			l.first = j.first
		}
		if !j.row || j.lost.to == 0 && w.enter(l, &j, now) {
			fresh = append(fresh, j)
		}
	}
	return fresh
}

// enter notes a row in the progress of its gateway, and says whether it is to be handed on.
func (w *worker) enter(l *progress, j *job, now time.Time) bool {
	switch l.judge(j.BootID, j.Sequence) {
	case known:
		l.again = true
		return false
	case past:
		l.add("", j.Sequence)
		l.again = true
		return false
	case contested:
		if now.Sub(l.contested) > contestTime {
			w.o.Log.Error("two gateways have one id: what both send is handed on, and neither hears an acknowledgement", "gateway", j.Gateway, "start", j.BootID, "sequence", j.Sequence)
		}
		j.Contested = true
		l.remember(j.BootID, j.Sequence)
		l.contested = now
		return true
	case reborn:
		w.o.Log.Warn("gateway begins its sequence again", "gateway", j.Gateway, "sequence", j.Sequence)
		l.newLife(j.BootID)
	case fresh:
	}
	l.add(j.BootID, j.Sequence)
	return true
}

// stored tells everybody who waits for what is committed.
func (w *worker) stored(batch, fresh []job, known map[string]*progress) {
	w.mu.Lock()
	for gateway, l := range known {
		w.follow(gateway, l)
	}
	for _, j := range batch {
		if j.row && j.lost.to == 0 {
			w.progress[j.Gateway].saw(j.Sequence, time.Now())
			continue
		}
		if l := w.progress[j.Gateway]; l != nil && j.Level == cloud.LevelPresence && !j.Retained {
			l.heard = 0 // another one with this id may have connected
		}
		if j.Retained {
			w.keep(j.topic, j.ID)
		}
	}
	for _, j := range fresh {
		if j.row || w.o.Source == nil && j.Level != cloud.LevelReceipt { // else it was heard when it came, perhaps later ones, too
			w.hear(j)
		}
	}
	w.mu.Unlock()
	for _, j := range batch {
		j.taken()
	}
}

// follow takes over how far the rows of a gateway are committed. The caller has the lock.
func (b *Backend) follow(gateway string, l *progress) {
	have := b.progress[gateway]
	if have == nil {
		have = &progress{}
		b.progress[gateway] = have
	}
	if l.reset {
		*have = progress{heard: have.heard}
	}
	have.again = have.again || l.again // it did not hear the acknowledgement
	have.ranges, have.first, have.contested = l.ranges, l.first, l.contested
	if l.began {
		have.settled = time.Now().Add(settleTime)
	}
}

// keep remembers the retained message that was handed on last. The caller has the lock.
func (b *Backend) keep(topic, id string) {
	if len(b.kept) >= maxKept {
		clear(b.kept)
	}
	b.kept[topic] = id
}
