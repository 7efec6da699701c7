package broker

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"golang.org/x/time/rate"
)

// keepFor is how long a session may stay, in seconds: a century. The router
// compares wall clocks, and on a board that starts in 1970 everything would be
// decades old once the clock is set.
const keepFor = 100 * 365 * 24 * 3600

// newServer makes and starts the router.
func (b *Broker) newServer() error {
	capabilities := mqtt.NewDefaultServerCapabilities()
	capabilities.MaximumClients = math.MaxInt64   // counted by us, before CONNECT
	capabilities.MaximumMessageExpiryInterval = 0 // none expires
	capabilities.MaximumSessionExpiryInterval = keepFor
	capabilities.MaximumClientWritesPending = 256
	capabilities.MaximumPacketSize = 0 // checked by us, with a smaller CONNECT
	capabilities.MaximumInflight = maxInflight
	capabilities.MinimumProtocolVersion = 4
	capabilities.MaximumQos = 2
	b.server = mqtt.New(&mqtt.Options{
		Capabilities: capabilities,
		// What the router logs holds payloads; what matters is logged by us.
		Logger:                 slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.Level(math.MaxInt)})),
		SysTopicResendInterval: 24 * 3600,
		InlineClient:           true,
	})
	if err := b.server.AddHook(&guard{b: b}, nil); err != nil {
		return errors.Join(err, errors.New("broker hooks were not taken"))
	}
	return b.server.Serve()
}

// notes is a log that a flood of bad clients cannot fill.
type notes struct {
	log   *slog.Logger
	limit *rate.Limiter
	mu    sync.Mutex
	left  int // lines that were left out
}

func newNotes(l *slog.Logger) *notes {
	return &notes{log: l, limit: rate.NewLimiter(rate.Every(time.Second), 20)}
}

func (n *notes) warn(message string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.limit.Allow() {
		n.left++
		return
	}
	if n.left > 0 {
		args = append(args, "left_out", n.left)
		n.left = 0
	}
	n.log.Warn(message, args...)
}

func (n *notes) debug(message string, args ...any) {
	if n.log.Enabled(context.Background(), slog.LevelDebug) {
		n.log.Debug(message, args...)
	}
}
