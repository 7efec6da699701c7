package broker

import (
	"fmt"
	"net"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// TestEachUserHasClientIDsOfHisOwn: whoever connects with a client id that
// another user has, connected or absent, gets nothing of that session and ends
// it not.
func TestEachUserHasClientIDsOfHisOwn(t *testing.T) {
	for _, connected := range []bool{true, false} {
		t.Run(fmt.Sprint("connected: ", connected), func(t *testing.T) {
			bubble(t, house(), func(t *testing.T, b *Broker) {
				owner := join(t, b, login(staying("DVES_A1B2C3"), "b", "b-secret"))
				owner.subscribe(1, "b/secret", 1)
				if !connected {
					_ = owner.conn.Close()
					synctest.Wait()
				}
				thief := login(staying("DVES_A1B2C3"), "a", "a-secret")
				c := dial(t, b)
				c.send(thief)
				if ack, ok := c.read().(*packets.ConnackPacket); ok && ack.SessionPresent {
					t.Error("the thief was told that a session waits")
				}
				_ = b.Publish("b/secret", []byte("1234"), false, 1)
				synctest.Wait()
				if !connected {
					owner = join(t, b, login(staying("DVES_A1B2C3"), "b", "b-secret"))
				}
				if got := owner.next(); got != "1234" {
					t.Errorf("the owner got %q", got)
				}
				if got := c.next(); got != "" {
					t.Errorf("the thief got %q", got)
				}
			})
		})
	}
}

// TestKeepaliveIsBounded: never and an hour are served as 60 s, so that who is
// gone is noticed.
func TestKeepaliveIsBounded(t *testing.T) {
	for _, keepalive := range []uint16{0, 61, 3600} {
		t.Run(fmt.Sprint(keepalive), func(t *testing.T) {
			bubble(t, local, func(t *testing.T, b *Broker) {
				p := hello("k")
				p.Keepalive = keepalive
				c := join(t, b, p)
				start := time.Now()
				_ = c.conn.SetReadDeadline(time.Time{})
				_, err := packets.ReadPacket(c.conn)
				if took := time.Since(start); err == nil || took < 89*time.Second || took > 91*time.Second {
					t.Errorf("a client that fell silent was dropped after %v with %v", took, err)
				}
			})
		})
	}
}

// TestWillIsJudgedWhenItIsDue: what a client might say when it connected it may
// not say any more.
func TestWillIsJudgedWhenItIsDue(t *testing.T) {
	guarded := false
	o := Options{AllowAnonymousLoopback: true, ACL: func(_, topic string, write bool) bool { return !write || !guarded || topic != "door/set" }}
	bubble(t, o, func(t *testing.T, b *Broker) {
		door := join(t, b, hello("door"))
		door.subscribe(1, "#", 0)
		c := join(t, b, will(hello("c"), "door/set"))
		guarded = true // a door came meanwhile
		_ = c.conn.Close()
		synctest.Wait()
		_ = b.Publish("end", []byte("end"), false, 0)
		if got := door.next(); got != "end" {
			t.Errorf("the door got %q", got)
		}
		if _, ok := b.server.Topics.Retained.Get("door/set"); ok {
			t.Error("the will was kept")
		}
	})
}

// TestMosquittoToolsAsAUser: the tools choose a client id of their own.
func TestMosquittoToolsAsAUser(t *testing.T) {
	for _, tool := range []string{"mosquitto_pub", "mosquitto_sub"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed (Debian: mosquitto-clients), so it is not tried with this broker", tool)
		}
	}
	o := house()
	o.Listen = "127.0.0.1:0"
	b := open(t, o)
	defer serve(t, b)()
	host, port, _ := net.SplitHostPort(b.Addr().String())
	run := func(tool string, more ...string) (string, error) {
		all := append([]string{"-h", host, "-p", port, "-u", "a", "-P", "a-secret", "-k", "300"}, more...)
		out, err := exec.CommandContext(t.Context(), tool, all...).CombinedOutput()
		return string(out), err
	}
	if out, err := run("mosquitto_pub", "-q", "1", "-r", "-t", "a/x", "-m", "hello"); err != nil {
		t.Fatalf("mosquitto_pub: %v %s", err, out)
	}
	if out, err := run("mosquitto_sub", "-q", "1", "-t", "a/#", "-C", "1", "-W", "15"); err != nil || out != "hello\n" {
		t.Errorf("mosquitto_sub: %v %q", err, out)
	}
}

// TestRefusalsHaveCodesOfMQTT311: a CONNECT that the router itself refuses gets a code that MQTT 3.1.1 has.
func TestRefusalsHaveCodesOfMQTT311(t *testing.T) {
	bubble(t, house(), func(t *testing.T, b *Broker) {
		nameless := login(hello(""), "a", "a-secret")
		nameless.CleanSession = false
		for what, c := range map[string]struct {
			p    *packets.ConnectPacket
			want int
		}{
			"no password":  {login(hello("a"), "a", ""), 5},
			"no client id": {nameless, 2},
			"wrong":        {login(hello("a"), "a", "wrong"), 5},
		} {
			if code := dial(t, b).connect(c.p); code != c.want {
				t.Errorf("%s: code %d, want %d", what, code, c.want)
			}
		}
	})
}
