package broker

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
)

// TestSubscriptionsAndRetainedMessagesMeet lets both happen at once, which the
// race detector judges; nobody may be left waiting.
func TestSubscriptionsAndRetainedMessagesMeet(t *testing.T) {
	bubble(t, local, func(t *testing.T, b *Broker) {
		var all sync.WaitGroup
		for k := range 4 {
			writer, reader := join(t, b, will(hello(fmt.Sprint("w", k)), fmt.Sprint("r/will/", k))), join(t, b, hello(fmt.Sprint("r", k)))
			all.Go(func() {
				for i := range 50 {
					if !writer.publish(uint16(i+1), fmt.Sprint("r/", k, "/", i%5), "x", true) {
						t.Errorf("writer %d was not answered", k)
						return
					}
					_ = b.Publish(fmt.Sprint("r/own/", k), []byte("x"), true, 1)
				}
				_ = writer.conn.Close() // its will goes out beside the others
			})
			all.Go(func() {
				for i := range 50 {
					if code := reader.subscribe(uint16(i+1), "r/+/#", 0); code != 0 {
						t.Errorf("reader %d got %d", k, code)
						return
					}
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if b.gate.holder.Load() != nil {
			t.Error("somebody is still inside")
		}
	})
}

// TestClientThatEndsInsideLeaves sends what the router gives up on.
func TestClientThatEndsInsideLeaves(t *testing.T) {
	bubble(t, local, func(t *testing.T, b *Broker) {
		c := join(t, b, will(hello("c"), "r/will"))
		bad := message(0, "r/x", "x", 1, true) // QoS 1 without an id
		c.send(bad)
		if !c.closed() {
			t.Error("the client was not ended")
		}
		synctest.Wait()
		if other := join(t, b, hello("d")); !other.publish(1, "r/y", "x", true) || other.subscribe(2, "r/#", 0) != 0 {
			t.Error("nobody else gets in")
		}
	})
}
