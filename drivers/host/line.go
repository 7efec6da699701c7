package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"roomgate/drivers"
)

// line is what outputs and inputs share: the kernel's handle of one line.
type line struct {
	name    string
	file    *os.File
	release func()
	closed  atomic.Bool
}

func (b *Board) line(name string, flags uint64, high bool) (*line, error) {
	p, err := b.find(name)
	if err != nil {
		return nil, err
	}
	// By place, because a line may be named in two ways.
	release, err := b.claim(fmt.Sprintf("line %d of %s", p.offset, p.chip), name)
	if err != nil {
		return nil, err
	}
	f, err := p.take(name, flags, high)
	if err != nil {
		release()
		return nil, err
	}
	return &line{name: name, file: f, release: release}, nil
}

// Close gives the line back. The kernel leaves an output's level as it is on
// every chip that we know of, and promises it for none.
func (l *line) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	defer l.release()
	if err := l.file.Close(); err != nil {
		return explain("line "+l.name, err)
	}
	return nil
}

// fault is what befell the line. The runtime has an error of its own for a
// file that closes under a call, so it is not asked.
func (l *line) fault(err error) error {
	if l.closed.Load() {
		err = os.ErrClosed
	}
	return explain("line "+l.name, err)
}

// values runs one of the two value ioctls.
func (l *line) values(number uint, v *lineValues) error {
	raw, err := l.file.SyscallConn()
	if err == nil {
		var fault error
		err = raw.Control(func(fd uintptr) { fault = ioctl(fd, number, v) })
		err = errors.Join(err, fault)
	}
	if err != nil {
		return l.fault(err)
	}
	return nil
}

type output struct{ *line }

// Output takes a line, and it has its level from the first moment.
func (b *Board) Output(name string, initial bool) (drivers.Output, error) {
	l, err := b.line(name, flagOutput, initial)
	if err != nil {
		return nil, err
	}
	return output{l}, nil
}

// Set drives the line.
func (o output) Set(high bool) error {
	return o.values(unix.GPIO_V2_LINE_SET_VALUES_IOCTL, &lineValues{bits: bit(high), mask: 1})
}

type input struct {
	*line
	edges bool // the chip reports them
}

var biases = map[drivers.Pull]uint64{
	drivers.PullNone: flagBiasNothing, drivers.PullUp: flagPullUp, drivers.PullDown: flagPullDown,
}

// Input takes a line for reading, with edges where the chip has them.
func (b *Board) Input(name string, pull drivers.Pull) (drivers.Input, error) {
	flags := flagInput | biases[pull]
	l, err := b.line(name, flags|flagRising|flagFalling, false)
	if err == nil {
		return input{l, true}, nil
	}
	if noEdges(err) {
		l, err = b.line(name, flags, false)
	}
	if err != nil {
		return nil, err
	}
	return input{l, false}, nil
}

// noEdges says that a chip may lack an interrupt, as most I2C expanders do.
func noEdges(err error) bool {
	return errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EOPNOTSUPP)
}

// Read returns the level now.
func (i input) Read() (bool, error) {
	v := lineValues{mask: 1}
	err := i.values(unix.GPIO_V2_LINE_GET_VALUES_IOCTL, &v)
	return v.bits&1 != 0, err
}

// Edges reports changes until ctx ends. drivers.ErrUnsupported means that the
// chip has no interrupts and the line must be polled.
func (i input) Edges(ctx context.Context, f func(drivers.Edge)) error {
	if !i.edges {
		return explain("line "+i.name+": edges", drivers.ErrUnsupported)
	}
	if err := i.drain(); err != nil {
		return i.fault(err)
	}
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		_ = i.file.SetReadDeadline(time.Unix(1, 0))
	})
	defer func() {
		if !stop() { // a deadline that comes late would end the next listener
			<-woken
		}
	}()
	for ctx.Err() == nil {
		events, err := i.events()
		if err != nil && ctx.Err() == nil {
			return i.fault(err)
		}
		for _, e := range events {
			f(e)
		}
	}
	return context.Cause(ctx)
}

// drain throws away what came before anybody listened. The kernel keeps a few
// dozen edges at most, so it ends.
func (i input) drain() error {
	if err := i.file.SetReadDeadline(time.Unix(1, 0)); err != nil {
		return err
	}
	raw, err := i.file.SyscallConn()
	if err != nil {
		return err
	}
	var buf [16 * unsafe.Sizeof(lineEvent{})]byte
	for range 64 {
		n := 0
		if err := raw.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), buf[:]) }); err != nil {
			return err
		}
		if n < len(buf) {
			break
		}
	}
	return i.file.SetReadDeadline(time.Time{})
}

// events waits for edges and returns those that the kernel has.
func (i input) events() ([]drivers.Edge, error) {
	var raw [16]lineEvent
	size := int(unsafe.Sizeof(raw[0]))
	n, err := i.file.Read(unsafe.Slice((*byte)(unsafe.Pointer(&raw[0])), len(raw)*size))
	if err != nil {
		return nil, err
	}
	now, ticks := time.Now(), monotonic()
	edges := make([]drivers.Edge, n/size)
	for k := range edges {
		ago := max(0, ticks-time.Duration(raw[k].timestamp))
		edges[k] = drivers.Edge{High: raw[k].id == unix.GPIO_V2_LINE_EVENT_RISING_EDGE, At: now.Add(-ago)}
	}
	return edges, nil
}

// monotonic is the clock that the kernel stamps edges with.
func monotonic() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
