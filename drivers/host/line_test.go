package host

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"roomgate/drivers"
)

// pipeLine is an input whose edges are written by the test: the kernel's line
// handle and a pipe are read alike.
func pipeLine(t *testing.T) (input, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in := input{&line{name: "DOOR_SENSE", file: r, release: func() {}}, true}
	t.Cleanup(func() { w.Close(); in.Close() })
	return in, w
}

func edge(t *testing.T, w *os.File, id uint32, ago time.Duration) {
	t.Helper()
	e := lineEvent{id: id, timestamp: uint64(monotonic() - ago)}
	if _, err := w.Write(unsafe.Slice((*byte)(unsafe.Pointer(&e)), unsafe.Sizeof(e))); err != nil {
		t.Fatal(err)
	}
}

func TestEdges(t *testing.T) {
	in, w := pipeLine(t)
	for range 20 { // before anybody listens: not reported
		edge(t, w, unix.GPIO_V2_LINE_EVENT_RISING_EDGE, 0)
	}
	if err := in.drain(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	got := make(chan drivers.Edge, 8)
	done := make(chan error)
	go func() { done <- in.Edges(ctx, func(e drivers.Edge) { got <- e }) }()
	// Edges drains once more at its start, so an edge is written until one came.
	var first drivers.Edge
	for tries := 0; first.At.IsZero() && tries < 1000; tries++ {
		edge(t, w, unix.GPIO_V2_LINE_EVENT_FALLING_EDGE, time.Minute)
		select {
		case first = <-got:
		case <-time.After(10 * time.Millisecond):
		}
	}
	if first.High {
		t.Error("a falling edge was reported as high")
	}
	if age := time.Since(first.At); age < 59*time.Second || age > 2*time.Minute {
		t.Errorf("the edge is %s old, want a minute", age)
	}
	stop := errors.New("enough")
	cancel(stop)
	if err := <-done; !errors.Is(err, stop) {
		t.Errorf("Edges returned %v, want the context's cause", err)
	}
}

func TestEdgesEndWithTheLine(t *testing.T) {
	in, _ := pipeLine(t)
	done := make(chan error)
	go func() { done <- in.Edges(t.Context(), func(drivers.Edge) {}) }()
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, drivers.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if _, err := in.Read(); !errors.Is(err, drivers.ErrClosed) {
		t.Errorf("Read after Close: %v, want ErrClosed", err)
	}
	if err := in.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestNoEdges(t *testing.T) {
	in, _ := pipeLine(t)
	in.edges = false
	if err := in.Edges(t.Context(), nil); !errors.Is(err, drivers.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
}

func TestReadOfNoLineIsAnErrorNotALevel(t *testing.T) {
	in, _ := pipeLine(t)
	if high, err := in.Read(); err == nil || high {
		t.Errorf("a pipe read as level %v, %v", high, err)
	}
	if err := (output{in.line}).Set(true); err == nil {
		t.Error("a pipe was driven")
	}
}
