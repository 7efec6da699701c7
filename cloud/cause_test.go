package cloud

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
)

// What only says that a connection is gone says nothing of what was spoken on it.
func TestCauseOfALostConnection(t *testing.T) {
	op := func(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }
	for _, c := range []struct {
		err            error
		before, during Cause // of the log-in, of the session
	}{
		{op(net.ErrClosed), CauseNoAnswer, CauseClosed},
		{fmt.Errorf("the broker's packet: %w", op(net.ErrClosed)), CauseNoAnswer, CauseClosed},
		{io.EOF, CauseNoAnswer, CauseClosed},
		{op(os.NewSyscallError("read", syscall.EHOSTUNREACH)), CauseUnreachable, CauseUnreachable},
		{op(os.NewSyscallError("write", syscall.ENETDOWN)), CauseUnreachable, CauseUnreachable},
		{op(os.NewSyscallError("read", syscall.ETIMEDOUT)), CauseSilent, CauseSilent},
		{fmt.Errorf("packet of type 0"), CauseProtocol, CauseProtocol},
	} {
		if before, during := causeOf(c.err, false), causeOf(c.err, true); before != c.before || during != c.during {
			t.Errorf("%v: %s and %s, want %s and %s", c.err, before, during, c.before, c.during)
		}
	}
	if got := tlsCause(op(net.ErrClosed)); got != CauseNoAnswer {
		t.Errorf("in the handshake: %s", got)
	}
}
