package host

import (
	"context"
	"testing"
	"time"
	"unsafe"

	"roomgate/drivers"
)

// A listener that stops itself, as a tachometer does once it has counted
// enough, leaves nothing behind that ends the next one.
func TestEdgesAgainAtOnce(t *testing.T) {
	in, kernel := pipeLine(t)
	event := lineEvent{id: 1}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&event)), unsafe.Sizeof(event))
	for i := range 5000 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		go func() {
			for ctx.Err() == nil { // until one comes after the drain
				_, _ = kernel.Write(raw)
			}
		}()
		err := in.Edges(ctx, func(drivers.Edge) { cancel() })
		if err != context.Canceled {
			t.Fatalf("listener %d ended with %v", i, err)
		}
	}
}
