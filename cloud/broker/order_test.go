package broker

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// What waits for a session comes in the order in which it was sent, after each
// return, and also where 16 bits of its number end.
func TestWhatWaitedComesInOrder(t *testing.T) {
	bubble(t, local, func(t *testing.T, b *Broker) {
		p := hello("k")
		p.CleanSession = false
		k := join(t, b, p)
		k.subscribe(1, "down", 1)
		b.numbers.Store(1<<17 - 150)
		sent, taken := 0, 0
		for range 3 {
			_ = k.conn.Close()
			synctest.Wait()
			for range 100 {
				if err := b.Publish("down", fmt.Append(nil, sent), false, 1); err != nil {
					t.Fatal(err)
				}
				sent++
			}
			synctest.Wait()
			k = join(t, b, p)
			for range 50 {
				if got := k.next(); got != fmt.Sprint(taken) {
					t.Fatalf("message %d is %q", taken, got)
				}
				taken++
			}
		}
	})
}

// A session that comes back while somebody publishes gets the old before the
// new. What it did not acknowledge comes again, and nothing is left out.
func TestReturnAmidTrafficKeepsTheOrder(t *testing.T) {
	bubble(t, local, func(t *testing.T, b *Broker) {
		p := hello("k")
		p.CleanSession = false
		k := join(t, b, p)
		k.subscribe(1, "down", 1)
		const all = 2000
		from := join(t, b, hello("from"))
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for i := range all {
				from.publish(uint16(i+1), "down", fmt.Sprint(i), false)
			}
		}()
		for last := -1; last < all-1; {
			_ = k.conn.Close()
			k = join(t, b, p)
			for before, n := -1, 0; n < 100 && last < all-1; n++ {
				var i int
				if _, err := fmt.Sscan(k.next(), &i); err != nil {
					t.Fatalf("after message %d: %v", last, err)
				}
				if i <= before-1 || i > last+1 {
					t.Fatalf("message %d comes after %d of this connection and %d of all", i, before, last)
				}
				before, last = i, max(last, i)
			}
		}
		<-sent
	})
}
