package cloud

import (
	"context"
	"net"
	"testing"
	"time"
)

// Where a link goes is asked before each connection, with what was met last.
func TestAtIsAskedBeforeEachConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, _ context.Context) {
		_, wire := newBroker(t)
		var dialled []string
		var heard []Cause
		at, up := "mqtt://first", make(chan struct{}, 9)
		l := NewLink(LinkOptions{URL: "mqtt://main", ClientID: "g", Log: quiet, Up: func(context.Context) { up <- struct{}{} },
			At: func(last Trouble) string { heard = append(heard, last.Cause); return at },
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				dialled = append(dialled, address)
				if len(dialled) == 1 {
					return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
				}
				return wire.dial(ctx, network, address)
			}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		<-up
		at = "mqtt://main,mqtt://spare"
		l.Renew()
		<-up
		at = "http://wrong"
		l.Renew()
		time.Sleep(time.Second)
		if got := l.Trouble().Cause; got != CauseMisconfigured {
			t.Errorf("an address that cannot be right: %s", got)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(dialled) != 3 || dialled[0] != "first:1883" || dialled[1] != "first:1883" || dialled[2] != "main:1883" {
			t.Errorf("dialled %q", dialled)
		}
		if heard[0] != "" || heard[1] != CauseUnreachable {
			t.Errorf("heard %q", heard)
		}
	})
}
