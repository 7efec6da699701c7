package host

import (
	"context"
	"fmt"
	"net"
	"sync"

	"roomgate/drivers"
)

// inside are the addresses that this process serves itself, without a socket.
type inside struct {
	mu     sync.Mutex
	serves map[string]func(net.Conn)
}

// Listen makes serve answer Dial at address, as drivers.RoomBroker. It is
// called in a goroutine of its own for each connection, and must return once
// that is closed. An address is taken for the life of the board.
func (b *Board) Listen(address string, serve func(net.Conn)) error {
	b.inside.mu.Lock()
	defer b.inside.mu.Unlock()
	if b.inside.serves[address] != nil {
		return fmt.Errorf("listen at %s: %w", address, drivers.ErrInUse)
	}
	if b.inside.serves == nil {
		b.inside.serves = map[string]func(net.Conn){}
	}
	b.inside.serves[address] = serve
	return nil
}

// dial reaches what Listen was called with. ours is false for an address that
// is to be looked for on the network, which that of the room broker never is:
// the one who answered to its name there would be told to unlock doors.
func (i *inside) dial(ctx context.Context, address string) (c net.Conn, ours bool, err error) {
	i.mu.Lock()
	serve := i.serves[address]
	i.mu.Unlock()
	switch {
	case serve == nil && address == drivers.RoomBroker:
		return nil, true, fmt.Errorf("dial %s: %w", address, drivers.ErrNoLine)
	case serve == nil:
		return nil, false, nil
	case ctx.Err() != nil:
		return nil, true, context.Cause(ctx)
	}
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		serve(far)
	}()
	return near, true, nil
}
