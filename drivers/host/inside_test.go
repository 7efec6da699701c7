package host

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"roomgate/drivers"
)

func TestInside(t *testing.T) {
	b := New()
	if _, err := b.Dial(t.Context(), "tcp", drivers.RoomBroker); !errors.Is(err, drivers.ErrNoLine) {
		t.Errorf("dial where nobody listens: %v", err)
	}
	echo := func(c net.Conn) {
		buf := make([]byte, 16)
		for n, err := c.Read(buf); err == nil; n, err = c.Read(buf) {
			_, _ = c.Write(buf[:n])
		}
	}
	if err := b.Listen(drivers.RoomBroker, echo); err != nil {
		t.Fatal(err)
	}
	if err := b.Listen(drivers.RoomBroker, echo); !errors.Is(err, drivers.ErrInUse) {
		t.Errorf("listen twice: %v", err)
	}
	c, err := b.Dial(t.Context(), "tcp", drivers.RoomBroker)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(c, got); err != nil || string(got) != "hello" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Dial(ended, "tcp", drivers.RoomBroker); !errors.Is(err, context.Canceled) {
		t.Errorf("dial with an ended context: %v", err)
	}
}
