package cloud

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Outgoing is a row of an outbox: a message and its place in the order.
type Outgoing struct {
	Seq uint64
	Message
}

// Outbox is where messages wait until the cloud has them.
type Outbox interface {
	// Next returns up to limit rows with a sequence above after, oldest first.
	Next(after uint64, limit int) ([]Outgoing, error)
	// Forget removes the rows up to and with upTo, durably.
	Forget(ctx context.Context, upTo uint64) error
}

// What makes an outbox forget.
const (
	AcksBackend = "backend" // the backend's cumulative down/ack
	AcksBroker  = "broker"  // the broker's PUBACK
)

// UplinkOptions say how an Uplink drains its outbox.
type UplinkOptions struct {
	Acks   string  // AcksBackend or AcksBroker; empty: AcksBackend
	Window int     // messages sent and not yet acknowledged by the broker, 1 to 1000; 0: 100
	Rate   float64 // messages per second, beyond a burst of Window; 0: unbounded
	// ForgetEvery is the least pause between two Forgets, each of which costs
	// a write to disk; 0: 1 s.
	ForgetEvery time.Duration
	// ForgetWithin is the pause when only a few rows can be forgotten, fewer than
	// forgetRows: after a power cut they come once more. 0 means ForgetEvery.
	ForgetWithin time.Duration
	// History returns rows for Replay, also those that the outbox has
	// forgotten; nil: the outbox's Next.
	History func(after uint64, limit int) ([]Outgoing, error)
	Log     *slog.Logger // nil: slog.Default()
}

// UplinkStats are the counts of an Uplink since its start.
type UplinkStats struct {
	Sent     uint64 // publishes begun, repetitions included
	Acked    uint64 // highest sequence up to which everything is acknowledged
	Last     uint64 // highest sequence sent
	Replayed uint64 // rows sent for Replay
	Skipped  uint64 // rows that no broker would take, given up
}

// forgetRows is how many rows are forgotten at the usual pace: what comes twice
// after a power cut, and what is still to be sent after many, stays bounded.
const forgetRows = 100

// maxReplays bounds the replays that wait.
const maxReplays = 16

// span is a stretch of rows to send again, both ends included.
type span struct{ from, to uint64 }

// Uplink drains an outbox through a link, oldest first. Rows of one connection
// leave in the order of their sequence; after a reconnection, and when a
// backend stays silent, it begins again with the first row that is not
// acknowledged. So every row arrives at least once.
type Uplink struct {
	link  *Link
	box   Outbox
	o     UplinkOptions
	limit *rate.Limiter
	wake  chan struct{} // new rows, acknowledgements, replays
	done  chan struct{} // something can be forgotten

	mu       sync.Mutex
	stats    UplinkStats
	progress time.Time // of the last acknowledgement, or when rows were last sent for one
	waits    time.Time // when rows began to wait for an acknowledgement, later by what passed without a connection
	left     time.Time // when the last connection ended; zero: none has
	patience time.Duration
	heard    bool // the backend has acknowledged on this connection
	replays  []span
}

// NewUplink makes an uplink over a link.
func NewUplink(link *Link, box Outbox, o UplinkOptions) *Uplink {
	o.Acks = cmp.Or(o.Acks, AcksBackend)
	o.Window = min(max(cmp.Or(o.Window, 100), 1), 1000)
	o.ForgetEvery = cmp.Or(o.ForgetEvery, time.Second)
	o.ForgetWithin = max(o.ForgetWithin, o.ForgetEvery)
	if o.History == nil {
		o.History = box.Next
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	u := &Uplink{link: link, box: box, o: o, wake: make(chan struct{}, 1), done: make(chan struct{}, 1)}
	if o.Rate > 0 {
		u.limit = rate.NewLimiter(rate.Limit(o.Rate), o.Window)
	}
	return u
}

// Run drains until ctx ends, then returns nil.
func (u *Uplink) Run(ctx context.Context) error {
	var forgetting sync.WaitGroup
	forgetting.Go(func() { u.forget(ctx) })
	defer forgetting.Wait()
	for {
		s := u.link.await(ctx)
		if s == nil {
			return nil
		}
		u.drain(ctx, s)
	}
}

// Wake says that the outbox has new rows. It never blocks.
func (u *Uplink) Wake() { signal(u.wake) }

// signal leaves one note in a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Acked says that the backend has everything up to and with seq; it counts
// only with AcksBackend. Rows that this process never sent are not believed
// to have arrived.
func (u *Uplink) Acked(seq uint64) {
	if u.o.Acks != AcksBackend {
		return
	}
	u.mu.Lock()
	u.heard = true
	u.mu.Unlock()
	u.advance(seq)
}

// advance moves the mark up to which the outbox may forget.
func (u *Uplink) advance(seq uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if seq = min(seq, u.stats.Last); seq <= u.stats.Acked {
		return
	}
	u.stats.Acked = seq
	u.progress, u.patience = time.Now(), patience
	u.waits = u.progress
	signal(u.done)
	if u.o.Acks == AcksBackend {
		signal(u.wake)
	}
}

// Replay sends the rows from and to once more, beside the backlog; to is 0
// for all up to the last one sent. It is false if too many replays wait.
func (u *Uplink) Replay(from, to uint64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if to == 0 || to > u.stats.Last {
		to = u.stats.Last
	}
	if len(u.replays) >= maxReplays {
		return false
	}
	if from = max(from, 1); from <= to {
		u.replays = append(u.replays, span{from, to})
		signal(u.wake)
	}
	return true
}

// Stats returns the counts.
func (u *Uplink) Stats() UplinkStats {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.stats
}

// Silent is how long the backend has acknowledged nothing of what the broker has
// taken, over all connections and however often it was sent again; 0 while nothing
// waits, or if the broker's word is enough.
func (u *Uplink) Silent() time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.o.Acks != AcksBackend || u.stats.Last <= u.stats.Acked {
		return 0
	}
	if !u.left.IsZero() { // nobody could say anything since
		return u.left.Sub(u.waits)
	}
	return time.Since(u.waits)
}

// forget tells the outbox what is acknowledged, many rows at a time.
func (u *Uplink) forget(ctx context.Context) {
	var forgotten uint64
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
			u.forgetUpTo(last, &forgotten)
			cancel()
			return
		case <-u.done:
			u.forgetUpTo(ctx, &forgotten)
			u.collect(ctx, forgotten)
		}
	}
}

// collect waits until it is worth while to forget once more.
func (u *Uplink) collect(ctx context.Context, forgotten uint64) {
	began := time.Now()
	sleep(ctx, u.o.ForgetEvery)
	for ctx.Err() == nil && time.Since(began) < u.o.ForgetWithin && u.Stats().Acked < forgotten+forgetRows {
		sleep(ctx, min(u.o.ForgetEvery, u.o.ForgetWithin-time.Since(began)))
	}
}

func (u *Uplink) forgetUpTo(ctx context.Context, forgotten *uint64) {
	upTo := u.Stats().Acked
	if upTo <= *forgotten {
		return
	}
	if err := u.box.Forget(ctx, upTo); errors.Is(err, context.Canceled) {
		return // the end, at which it is done once more
	} else if err != nil {
		u.o.Log.Error("cannot remove delivered messages from the outbox, trying again", "sequence", upTo, "reason", err)
		signal(u.done)
		return
	}
	*forgotten = upTo
}
