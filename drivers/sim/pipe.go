package sim

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pipeSize is how many bytes may be on their way in one direction.
const pipeSize = 64 << 10

// flow is one direction of a connection.
type flow struct {
	mu      sync.Mutex
	buf     []byte
	ended   bool          // the writer has closed: what is buffered is still read
	cut     bool          // the reader has closed
	changed chan struct{} // closed and replaced at each change
	// When reading and writing give up; zero for never.
	readBy, writeBy time.Time
}

func newFlow() *flow { return &flow{changed: make(chan struct{})} }

// change does what alters the flow and wakes anybody who waits for it.
func (f *flow) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

// try calls step under the lock until it is done, waiting for a change in
// between, no longer than the deadline says. A deadline may move meanwhile.
func (f *flow) try(by *time.Time, step func() (done bool)) error {
	for {
		f.mu.Lock()
		if expired(*by) {
			f.mu.Unlock()
			return os.ErrDeadlineExceeded
		}
		if step() {
			close(f.changed)
			f.changed = make(chan struct{})
			f.mu.Unlock()
			return nil
		}
		changed, until := f.changed, *by
		f.mu.Unlock()
		await(changed, until)
	}
}

func expired(by time.Time) bool { return !by.IsZero() && !time.Now().Before(by) }

func await(changed <-chan struct{}, by time.Time) {
	if by.IsZero() {
		<-changed
		return
	}
	timer := time.NewTimer(time.Until(by))
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	}
}

func (f *flow) read(b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	late := f.try(&f.readBy, func() bool {
		switch {
		case f.cut:
			err = net.ErrClosed
		case len(f.buf) > 0:
			n = copy(b, f.buf)
			f.buf = f.buf[n:]
		case f.ended:
			err = io.EOF
		default:
			return false
		}
		return true
	})
	if late != nil {
		return 0, late
	}
	return n, err
}

func (f *flow) write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		late := f.try(&f.writeBy, func() bool {
			free := pipeSize - len(f.buf)
			switch {
			case f.ended:
				err = net.ErrClosed
			case f.cut:
				err = io.ErrClosedPipe
			case free > 0:
				part := b[n:min(len(b), n+free)]
				f.buf = append(f.buf, part...)
				n += len(part)
			default:
				return false
			}
			return true
		})
		if late != nil {
			return n, late
		}
	}
	return n, err
}

// end is one end of a connection.
type end struct {
	in, out       *flow
	local, remote net.Addr
}

// pipe returns the two ends of a connection in memory. Unlike net.Pipe it
// buffers, as a socket does.
func pipe(client, server net.Addr) (*end, *end) {
	up, down := newFlow(), newFlow()
	return &end{in: down, out: up, local: client, remote: server},
		&end{in: up, out: down, local: server, remote: client}
}

func (e *end) Read(b []byte) (int, error)  { return e.in.read(b) }
func (e *end) Write(b []byte) (int, error) { return e.out.write(b) }
func (e *end) LocalAddr() net.Addr         { return e.local }
func (e *end) RemoteAddr() net.Addr        { return e.remote }

func (e *end) Close() error {
	e.in.change(func() { e.in.cut, e.in.buf = true, nil })
	e.out.change(func() { e.out.ended = true })
	return nil
}

func (e *end) SetReadDeadline(t time.Time) error {
	e.in.change(func() { e.in.readBy = t })
	return nil
}

func (e *end) SetWriteDeadline(t time.Time) error {
	e.out.change(func() { e.out.writeBy = t })
	return nil
}

func (e *end) SetDeadline(t time.Time) error {
	_ = e.SetReadDeadline(t)
	return e.SetWriteDeadline(t)
}

// addr is a host:port.
type addr string

func (addr) Network() string  { return "tcp" }
func (a addr) String() string { return string(a) }
