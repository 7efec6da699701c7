package broker

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// staying is a client whose session outlives the connection.
func staying(id string) *packets.ConnectPacket {
	p := hello(id)
	p.CleanSession = false
	return p
}

// waits says whether the broker still has the session of a client.
func waits(t *testing.T, b *Broker, id string) bool {
	t.Helper()
	c := dial(t, b)
	c.send(staying(id))
	ack, ok := c.read().(*packets.ConnackPacket)
	if !ok || ack.ReturnCode != 0 {
		t.Fatalf("%s was not let in", id)
	}
	return ack.SessionPresent
}

// Who has been away longest is forgotten first, and only as many as it takes.
func TestTheOldestSessionIsForgottenFirst(t *testing.T) {
	bubble(t, Options{AllowAnonymousLoopback: true, Budget: 256 << 10}, func(t *testing.T, b *Broker) {
		for _, id := range []string{"old", "young", "youngest"} {
			c := join(t, b, staying(id))
			c.subscribe(1, id+"/#", 1)
			_ = c.conn.Close()
			synctest.Wait()
		}
		from, kib := join(t, b, hello("from")), strings.Repeat("x", 1<<10)
		for i := range 70 {
			for _, id := range []string{"old", "young"} {
				if !from.publish(uint16(i+1), id+"/x", fmt.Sprint(i, kib), false) {
					t.Fatal("not acknowledged")
				}
			}
		}
		synctest.Wait()
		if b.budget.exceeded() {
			t.Error("more waits than may")
		}
		for id, want := range map[string]bool{"old": false, "young": true, "youngest": true} {
			if waits(t, b, id) != want {
				t.Errorf("%s is still waited for: %t, want %t", id, !want, want)
			}
		}
	})
}

// A client that takes what is sent to it is not ended for one that does not,
// nor is one of another user who has little.
func TestTheGreediestClientIsEnded(t *testing.T) {
	o := house()
	o.Budget = 512 << 10
	users := o.ACL
	o.ACL = func(user, topic string, write bool) bool { return user == Inside || users(user, topic, write) }
	bubble(t, o, func(t *testing.T, b *Broker) {
		inside := dialWith(t, b.ServeInside)
		inside.connect(hello("own"))
		inside.subscribe(1, "a/#", 1)
		deaf := []*client{join(t, b, login(hello("a/1"), "a", "a-secret")), join(t, b, login(hello("a/2"), "a", "a-secret"))}
		for _, c := range deaf {
			c.subscribe(1, "a/#", 1)
		}
		small := join(t, b, login(hello("b/1"), "b", "b-secret"))
		small.subscribe(1, "b/#", 1)
		from := join(t, b, login(hello("backend"), "backend", "c-secret"))
		from.publish(1, "b/x", "little", false)
		for i := range 60 {
			from.publish(uint16(i+2), "a/x", strings.Repeat("x", 4<<10), false)
			if inside.next() == "" {
				t.Fatalf("this process was ended at message %d", i)
			}
		}
		synctest.Wait()
		if b.budget.exceeded() {
			t.Error("more waits than may")
		}
		if !deaf[0].closed() && !deaf[1].closed() {
			t.Error("nobody was ended who does not read")
		}
		if got := small.next(); got != "little" {
			t.Errorf("who had little got %q", got)
		}
	})
}

func counted(b *Broker) int {
	b.budget.mu.Lock()
	defer b.budget.mu.Unlock()
	return b.budget.total
}

// What was counted is given back when it does not wait any more.
func TestTheBudgetIsGivenBack(t *testing.T) {
	bubble(t, local, func(t *testing.T, b *Broker) {
		reader := join(t, b, staying("reader"))
		reader.subscribe(1, "t/#", 2)
		reader.subscribe(2, "u/#", 0)
		_ = reader.conn.Close()
		synctest.Wait()
		from := join(t, b, will(hello("from"), "t/will"))
		for i := range 50 {
			from.publish(uint16(i+1), fmt.Sprint("t/", i%5, "/a"), "x", i%2 == 0)
		}
		for range 2 { // the second one takes the session over
			reader = join(t, b, staying("reader"))
			for range 20 {
				reader.next()
			}
		}
		synctest.Wait()
		before := counted(b)
		for _, cl := range b.server.Clients.GetAll() {
			if c := connOf(cl); c != nil {
				c.share.recount(cl.State.Inflight.GetAll(false))
			}
		}
		if now := counted(b); now != before {
			t.Errorf("%d bytes were counted, and it is %d", before, now)
		}
		for i := range 5 {
			from.publish(1, fmt.Sprint("t/", i, "/a"), "", true)
		}
		_ = from.conn.Close()
		synctest.Wait()
		b.retained.set("", "t/will", 0)
		_ = reader.conn.Close()
		synctest.Wait()
		_ = join(t, b, hello("reader")).conn.Close() // a clean session ends the old one
		synctest.Wait()
		if n := counted(b); n != 0 || len(b.retained.tree) != 0 {
			t.Errorf("%d bytes are counted and nothing waits, %v", n, b.retained.tree)
		}
	})
}

// No user gets all the place for retained messages.
func TestRetainedAreShared(t *testing.T) {
	bubble(t, house(), func(t *testing.T, b *Broker) {
		a := join(t, b, login(hello("a"), "a", "a-secret"))
		for i := range 100 {
			a.publish(uint16(i+1), fmt.Sprint("a/", i), strings.Repeat("x", 60_000), true)
		}
		from := join(t, b, login(hello("b"), "b", "b-secret"))
		from.publish(1, "b/x", "x", true)
		if _, ok := b.server.Topics.Retained.Get("b/x"); !ok {
			t.Error("one user has all the place for retained messages")
		}
	})
}

// The levels of topics count as whose topic made them: nobody takes all the place by many
// deep ones, nor do all users together take the gateway's.
func TestDeepTopicsAreShared(t *testing.T) {
	r := retained{of: newBudget(8 << 20), most: 4 << 20}
	fill := func(user string) {
		for depth := maxLevels - 3; depth >= 0; depth-- {
			for i := range 5000 {
				topic := fmt.Sprint(user, "/", depth, "-", i) + strings.Repeat("/a", depth)
				if !r.fits(user, topic, weight(topic, []byte("x"))) {
					break
				}
				r.set(user, topic, weight(topic, []byte("x")))
			}
		}
	}
	fill("evil")
	if lamp := "zigbee2mqtt/lamp"; r.users["evil"] > r.most/2 || !r.fits("lamp", lamp, weight(lamp, make([]byte, 200))) {
		t.Errorf("one user has %d bytes of %d", r.users["evil"], r.most)
	}
	fill("") // who has no name
	if !r.fits(Inside, "homeassistant/lock/roomgate_g/door/config", r.most/5) {
		t.Errorf("users have %d bytes of %d, and nothing is left for the gateway", r.bytes, r.most)
	}
	for topic, k := range r.kept {
		r.set(k.user, topic, 0)
	}
	if r.bytes != 0 || len(r.users)+len(r.tree) != 0 {
		t.Errorf("%d bytes of %v are counted and nothing is kept", r.bytes, r.users)
	}
}
