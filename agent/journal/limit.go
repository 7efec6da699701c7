package journal

import (
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"
)

const (
	// limitWindow is the time in which lines are counted.
	limitWindow = time.Minute
	// sameLines is how often one line is written in that time, and similar
	// ones, of the same message with other attributes.
	sameLines, similarLines = 3, 60
	// maxLines bounds the lines that are counted one by one. Beyond, only their
	// messages count, and beyond that all others as one.
	maxLines = 1000
)

// limiter lets the first of many same lines through, counts the others,
// and says at the end of a minute how many there were: a device that fails ten
// times a second neither fills the journal nor hides what else happens.
type limiter struct {
	to    slog.Handler
	with  uint64 // of With
	lines *lines
}

// lines are those of the minute that runs.
type lines struct {
	mu     sync.Mutex
	seed   maphash.Seed
	counts map[uint64]*lineCount
}

type lineCount struct {
	seen int
	held int // of seen, those that were not written
	last slog.Record
	to   slog.Handler
}

func limited(to slog.Handler) *limiter {
	return &limiter{to: to, lines: &lines{seed: maphash.MakeSeed(), counts: map[uint64]*lineCount{}}}
}

// Enabled is what is below.
func (h *limiter) Enabled(ctx context.Context, l slog.Level) bool { return h.to.Enabled(ctx, l) }

// WithAttrs tells lines apart by them too.
func (h *limiter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.below(h.to.WithAttrs(attrs), fmt.Sprint(attrs))
}

// WithGroup tells lines apart by it too.
func (h *limiter) WithGroup(name string) slog.Handler {
	return h.below(h.to.WithGroup(name), "group "+name)
}

func (h *limiter) below(to slog.Handler, what string) slog.Handler {
	return &limiter{to, h.with*31 + maphash.String(h.lines.seed, what), h.lines}
}

// Handle writes a record or counts it.
func (h *limiter) Handle(ctx context.Context, r slog.Record) error {
	if h.lines.hold(h, r) {
		return nil
	}
	return h.to.Handle(ctx, r)
}

// hold says whether the record is only counted.
func (l *lines) hold(h *limiter, r slog.Record) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	similar := maphash.String(l.seed, r.Level.String()+r.Message)
	same := similar*31 + h.with
	r.Attrs(func(a slog.Attr) bool {
		same = same*31 + maphash.String(l.seed, a.String())
		return true
	})
	if l.counts[same] != nil || len(l.counts) < maxLines {
		if l.count(same, sameLines, h, r) {
			return true
		}
	}
	if l.counts[similar] == nil && len(l.counts) >= maxLines {
		similar = 0
	}
	return l.count(similar, similarLines, h, r)
}

// count counts a line by one of its keys, and says whether it is one too many.
func (l *lines) count(key uint64, most int, h *limiter, r slog.Record) bool {
	c := l.counts[key]
	if c == nil {
		c = &lineCount{}
		l.counts[key] = c
		time.AfterFunc(limitWindow, func() { l.end(key) })
	}
	if c.seen++; c.seen <= most {
		return false
	}
	c.held++
	c.last, c.to = r.Clone(), h.to
	return true
}

// end ends the minute of a line.
func (l *lines) end(key uint64) {
	l.mu.Lock()
	c := l.counts[key]
	delete(l.counts, key)
	l.mu.Unlock()
	if c == nil || c.held == 0 {
		return
	}
	r := c.last
	r.Time = time.Now()
	r.AddAttrs(slog.Int("repeated", c.held), slog.String("within", limitWindow.String()))
	_ = c.to.Handle(context.Background(), r) // nobody is left to be told
}

// flush says what was counted, at the end of the program.
func (l *lines) flush() {
	l.mu.Lock()
	keys := make([]uint64, 0, len(l.counts))
	for k := range l.counts {
		keys = append(keys, k)
	}
	l.mu.Unlock()
	for _, k := range keys {
		l.end(k)
	}
}
