package backend

import (
	"context"
	"errors"

	"roomgate/cloud"
)

// Source brings what gateways send to the handler of Consume, in place of the session at
// the broker: a log that several backends share, each with some of the gateways. Then the
// session sends, and hears receipts and what State and Fleet say, of every gateway.
type Source interface {
	// Run delivers until ctx ends: the messages of one gateway in their order, those of
	// several gateways also at the same time. A message that was not taken comes again. left
	// says that another backend has the gateway from now on.
	Run(ctx context.Context, deliver func(ctx context.Context, m cloud.Message, taken func()), left func(gateway string)) error
}

// pull consumes what the source brings.
func (b *Backend) pull(ctx context.Context, giveUp func(string, span), deliver func(context.Context, cloud.Message, func())) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		defer stop()
		ended <- b.o.Source.Run(ctx, deliver, b.leave)
	}()
	topics := cloud.Topics{Gateway: b.o.Gateway}
	heard := []string{topics.Up(cloud.LevelReceipt), topics.Up(cloud.LevelPresence), topics.Up(cloud.LevelHeartbeat), topics.Up(cloud.LevelState + "/+")}
	err := b.run(ctx, heard, giveUp, func(_ context.Context, m cloud.Message, taken func()) {
		if j, ok := b.read(m); ok {
			b.mu.Lock()
			b.hear(j)
			b.mu.Unlock()
		}
		taken()
	})
	stop()
	return errors.Join(err, <-ended)
}

// leave leaves a gateway to another backend: that one acknowledges its rows and asks for gaps.
func (b *Backend) leave(gateway string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.progress, gateway)
}
