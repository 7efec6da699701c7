package cloud

import (
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"roomgate/cloud/internal/frame"
)

// skips is how often the log is told of messages that are too large: a stranger may send many.
type skips struct {
	often *rate.Limiter
	more  atomic.Int64 // that were not told
}

func newSkips() *skips { return &skips{often: rate.NewLimiter(rate.Every(10*time.Second), 10)} }

// skipped tells that a message was read past and will not come again.
func (l *Link) skipped(p frame.Skipped) {
	if !l.skips.often.Allow() {
		l.skips.more.Add(1)
		return
	}
	topic := p.Topic
	if len(topic) > MaxTopic {
		topic = topic[:MaxTopic]
	}
	l.o.Log.Warn("a message is left out: it is too large", "topic", topic, "bytes", p.Bytes, "most", maxPacket,
		slog.Int64("others", l.skips.more.Swap(0)), "fix", "let the broker refuse such messages: max_packet_size at Mosquitto, max_payload at NATS")
}
