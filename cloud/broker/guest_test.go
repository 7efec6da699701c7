package broker

import (
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// from opens a connection as if it came from an address; nil if it was refused.
func from(t *testing.T, b *Broker, address string) *client {
	t.Helper()
	near, far := net.Pipe()
	c, err := b.admit(far, netip.MustParseAddr(address), false)
	if err != nil {
		return nil
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer b.release(c)
		_ = b.serve(c, nil)
	}()
	t.Cleanup(func() { _ = near.Close(); <-ended })
	return &client{t, near}
}

// TestOneGuestCannotTakeAllOfTheBroker takes its places in each way that a guest of
// the network has; then a device comes, and those that were there are there still.
func TestOneGuestCannotTakeAllOfTheBroker(t *testing.T) {
	for name, attack := range map[string]func(i int) (address, user string){
		"an address":              func(int) (string, string) { return "192.0.2.7", "" },
		"a /64":                   func(i int) (string, string) { return fmt.Sprintf("2001:db8::%x", i+1), "" },
		"many networks":           func(i int) (string, string) { return fmt.Sprintf("2001:db8:0:%x::1", i+1), "" },
		"a user":                  func(int) (string, string) { return "192.0.2.7", "a" },
		"a user of many networks": func(i int) (string, string) { return fmt.Sprintf("2001:db8:0:%x::1", i+1), "a" },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, house(), func(t *testing.T, b *Broker) {
				before := from(t, b, "192.0.2.99")
				if code := before.connect(signed("b/before", "b")); code != 0 {
					t.Fatalf("code %d", code)
				}
				for i := range 500 {
					address, user := attack(i)
					if c := from(t, b, address); c != nil && user != "" {
						c.connect(signed(fmt.Sprint(user, "/", i), user))
					}
				}
				after := from(t, b, "192.0.2.98")
				if after == nil {
					t.Fatal("a device is not let in")
				}
				if code := after.connect(signed("b/after", "b")); code != 0 {
					t.Errorf("a device gets code %d", code)
				}
				for _, c := range []*client{before, after} {
					if c.subscribe(1, "b/x", 1) != 1 {
						t.Error("a device was cut off")
					}
				}
				synctest.Wait() // those that were sent away have gone
				if n := len(b.conns); n > 210 {
					t.Errorf("%d connections", n)
				}
			})
		})
	}
}

// TestOneGuestCannotTakeAllTries guesses in each way that there is. The guesses are
// few, a lock-out is not cleared by others, and who has been let in comes in still.
func TestOneGuestCannotTakeAllTries(t *testing.T) {
	bubble(t, house(), func(t *testing.T, b *Broker) {
		tries := 0
		guess := func(address, user string) {
			l := userAt{user, netip.MustParseAddr(address)}
			if b.guesses.tooMany(l.from) {
				return
			}
			_ = b.guesses.try(t.Context(), l, false, func() bool { tries++; return false })
		}
		right := func(address string) error {
			return b.guesses.try(t.Context(), userAt{"a", netip.MustParseAddr(address)}, false, func() bool { return true })
		}
		if err := right("2001:db8::ffff:aaaa"); err != nil {
			t.Fatal(err)
		}
		for i := range 100_000 {
			guess(fmt.Sprintf("2001:db8::%x:%x", i>>16, i&0xffff), "a")
		}
		if most := guessHosts * guessBurst; tries != most {
			t.Errorf("a /64 tried %d passwords, want %d", tries, most)
		}
		if err := right("2001:db8::ffff:aaaa"); err != nil {
			t.Errorf("who was let in before: %v", err)
		}
		for range 2 * guessBurst {
			guess("192.0.2.7", "a")
		}
		for i := range 10_000 {
			guess(fmt.Sprintf("2001:db8:1:%x::1", i), fmt.Sprint("u", i))
		}
		if !b.guesses.tooMany(netip.MustParseAddr("192.0.2.7")) {
			t.Error("others have cleared a lock-out")
		}
		if err := right("192.0.2.8"); err != nil {
			t.Errorf("a newcomer: %v", err)
		}
		tries = 0
		time.Sleep(guessEvery)
		if guess("192.0.2.7", "a"); tries != 1 {
			t.Errorf("after %v it tried %d", guessEvery, tries)
		}
	})
}

// signed is the CONNECT of a user of house.
func signed(id, user string) *packets.ConnectPacket {
	return login(hello(id), user, user+"-secret")
}

// TestUnknownNamesAreLikeUsers: each name that does not exist is compared with one
// user's password, whether that is quick or slow, at every try; all together with all.
func TestUnknownNamesAreLikeUsers(t *testing.T) {
	slow, err := hash("secret", 2)
	if err != nil {
		t.Fatal(err)
	}
	u, met := newUsers(map[string]string{"a": "plain", "b": slow}, nil), map[string]bool{}
	for i := range 100 {
		name := fmt.Sprint("stranger", i)
		first, known := u.standIn(name)
		met[first] = true
		for range 20 {
			if again, _ := u.standIn(name); known || again != first {
				t.Fatalf("%s is known: %v, or is compared with two passwords", name, known)
			}
		}
		if u.verify(name, "plain") || u.verify(name, "secret") {
			t.Fatalf("%s came in", name)
		}
	}
	if len(met) != 2 {
		t.Errorf("strangers are compared with %d passwords, want 2", len(met))
	}
	if newUsers(nil, nil).verify("a", "") {
		t.Error("somebody came in where nobody may")
	}
}

// TestPasswordsLeaveAProcessor: however many guess, what else the gateway does has a
// processor of its own.
func TestPasswordsLeaveAProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for processors, want := range map[int]int{1: 1, 2: 1, 4: 3} {
		runtime.GOMAXPROCS(processors)
		if got := newGuesses().hashing.Most; got != want {
			t.Errorf("with %d processors %d passwords are computed at once, want %d", processors, got, want)
		}
	}
}

// TestOneHostLocksNoNeighbourOut: a host of a /64 guesses without end. Its neighbours come in for the first time, and it
// has no more tries than an IPv4 address.
func TestOneHostLocksNoNeighbourOut(t *testing.T) {
	bubble(t, house(), func(t *testing.T, b *Broker) {
		tries := 0
		eve := userAt{"a", netip.MustParseAddr("2001:db8::bad")}
		for range 60 {
			for range 100 {
				if !b.guesses.tooMany(eve.from) {
					_ = b.guesses.try(t.Context(), eve, false, func() bool { tries++; return false })
				}
			}
			time.Sleep(time.Second)
		}
		if most := guessBurst + int(time.Minute/guessEvery); tries > most {
			t.Errorf("in a minute it tried %d passwords, want at most %d", tries, most)
		}
		neighbour := userAt{"a", netip.MustParseAddr("2001:db8::ada")}
		if b.guesses.tooMany(neighbour.from) {
			t.Error("a neighbour may not try")
		}
		if err := b.guesses.try(t.Context(), neighbour, false, func() bool { return true }); err != nil {
			t.Errorf("a neighbour: %v", err)
		}
	})
}
