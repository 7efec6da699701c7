package broker

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// house is a broker with users: each owns the topics below its name, and the
// backend all.
func house() Options {
	hashed, _ := hash("b-secret", 1000) // few rounds keep the tests quick
	return Options{
		Users: map[string]string{"a": "a-secret", "b": hashed, "backend": "c-secret"},
		ACL: func(user, topic string, write bool) bool {
			return user == "backend" || strings.HasPrefix(topic, user+"/")
		},
	}
}

func TestWhoMayComeIn(t *testing.T) {
	old := hello("a")
	old.ProtocolName, old.ProtocolVersion = "MQIsdp", 3
	never, seldom := login(hello("a"), "a", "a-secret"), login(hello("a"), "a", "a-secret")
	never.Keepalive, seldom.Keepalive = 0, 3600
	for _, c := range []struct {
		name string
		p    *packets.ConnectPacket
		code int
	}{
		{"plain password", login(hello("a"), "a", "a-secret"), 0},
		{"hashed password", login(hello("b"), "b", "b-secret"), 0},
		{"id below the name", login(hello("a/screen"), "a", "a-secret"), 0},
		{"wrong password", login(hello("a"), "a", "b-secret"), 5},
		{"no password", hello("a"), 5},
		{"unknown user", login(hello("x"), "x", "a-secret"), 5},
		{"another's id", login(hello("b"), "a", "a-secret"), 2},
		{"below another's id", login(hello("b/screen"), "a", "a-secret"), 2},
		{"an id that only begins alike", login(hello("ab"), "a", "a-secret"), 0},
		{"Home Assistant's id", login(hello("5qX2vLr0bTq7mWmYzC1p8a"), "a", "a-secret"), 0},
		{"mosquitto_pub's id", login(hello("mosq-eZ1mUqVOhZ0gfvL3AE"), "a", "a-secret"), 0},
		{"MQTT.js's id", login(hello("mqttjs_3be2c321"), "a", "a-secret"), 0},
		{"no id", login(hello(""), "a", "a-secret"), 0},
		{"the router's own id", login(hello("inline"), "a", "a-secret"), 0},
		{"this process's id", login(hello("$inside/x"), "a", "a-secret"), 0},
		{"endless id", login(hello(strings.Repeat("a/", 200)), "a", "a-secret"), 2},
		{"keepalive never", never, 0},
		{"keepalive of an hour", seldom, 0},
		{"will on an own topic", will(login(hello("a"), "a", "a-secret"), "a/status"), 0},
		{"will on another's topic", will(login(hello("a"), "a", "a-secret"), "cmd/door/unlock"), 5},
		{"will on a wildcard", will(login(hello("a"), "a", "a-secret"), "a/#"), 5},
		{"will on $SYS", will(login(hello("backend"), "backend", "c-secret"), "$SYS/x"), 5},
		{"MQTT 3.1", old, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, house(), func(t *testing.T, b *Broker) {
				if code := dial(t, b).connect(c.p); code != c.code {
					t.Errorf("code %d, want %d", code, c.code)
				}
			})
		})
	}
}

func TestHashedPassword(t *testing.T) {
	stored, err := hash("secret", 1000)
	if err != nil || strings.Contains(stored, "secret") || checkHash(stored) != nil {
		t.Fatalf("%s, %v", stored, err)
	}
	u := newUsers(map[string]string{"a": stored}, nil)
	if !u.verify("a", "secret") || u.verify("a", "Secret") || u.verify("b", "secret") || u.verify("a", stored) {
		t.Error("the hash does not tell right from wrong")
	}
}

func TestMQTT5IsRefused(t *testing.T) {
	bubble(t, Options{AllowAnonymousLoopback: true}, func(t *testing.T, b *Broker) {
		c := dial(t, b)
		_, _ = c.conn.Write([]byte{0x10, 14, 0, 4, 'M', 'Q', 'T', 'T', 5, 2, 0, 60, 0, 0, 1, 'x'})
		if !c.closed() {
			t.Error("a client of MQTT 5 was let in")
		}
	})
}

func TestAnonymousOwnsNoUsersID(t *testing.T) {
	o := house()
	o.AllowAnonymousLoopback = true
	bubble(t, o, func(t *testing.T, b *Broker) {
		for id, want := range map[string]int{"mosq-1": 0, "": 0, "a": 2, "a/screen": 2, "backend": 2} {
			if code := dial(t, b).connect(hello(id)); code != want {
				t.Errorf("anonymous %q: code %d, want %d", id, code, want)
			}
		}
	})
}

func TestOpenRefusesToBeOpenToAll(t *testing.T) {
	for _, listen := range []string{":1883", "0.0.0.0:0", "[::]:0", "192.168.1.5:1883", "room.example:1883"} {
		_, err := Open(Options{Listen: listen, AllowAnonymousLoopback: true, Log: quiet})
		if err == nil || !strings.Contains(err.Error(), "without credentials") {
			t.Errorf("%s: %v", listen, err)
		}
	}
	for _, o := range []Options{
		{Listen: "127.0.0.1:0"}, {Listen: "nonsense"},
		{Users: map[string]string{"a/b": "x"}}, {Users: map[string]string{"a": ""}},
		{Users: map[string]string{"a": "$pbkdf2-sha256$1000$x$y"}},
	} {
		if o.Log = quiet; o.Listen == "nonsense" {
			o.AllowAnonymousLoopback = true
		}
		if b, err := Open(o); err == nil {
			_ = b.Close()
			t.Errorf("%+v was accepted", o)
		}
	}
}

func TestAccess(t *testing.T) {
	bubble(t, house(), func(t *testing.T, b *Broker) {
		a := join(t, b, login(hello("a"), "a", "a-secret"))
		for filter, want := range map[string]int{
			"a/#": 1, "a/x": 1, "#": 0x80, "b/x": 0x80, "+/x": 0x80, "$SYS/#": 0x80,
			"$share/g/b/x": 0x80, "$share/g/a/x": 1, "a/#/x": 0x80,
		} {
			if code := a.subscribe(7, filter, 1); code != want {
				t.Errorf("subscribe %s: code %#x, want %#x", filter, code, want)
			}
		}
		backend := join(t, b, login(hello("backend"), "backend", "c-secret"))
		if code := backend.subscribe(1, "#", 1); code != 1 {
			t.Fatal("backend cannot subscribe")
		}
		if a.publish(9, "b/x", "evil", false) {
			t.Error("a publish on another's topic was acknowledged")
		}
		a2 := join(t, b, login(hello("a"), "a", "a-secret"))
		a2.send(message(0, "b/x", "evil", 0, true))
		if !a2.publish(10, "a/x", "good", false) {
			t.Error("a publish on an own topic was not acknowledged")
		}
		if got := backend.next(); got != "good" {
			t.Errorf("backend got %q", got)
		}
	})
}

func TestNobodyInheritsASession(t *testing.T) {
	bubble(t, house(), func(t *testing.T, b *Broker) {
		p := login(hello("b"), "b", "b-secret")
		p.CleanSession = false
		owner := join(t, b, p)
		owner.subscribe(1, "b/secret", 1)
		_ = owner.conn.Close()
		synctest.Wait()
		if err := b.Publish("b/secret", []byte("1234"), false, 1); err != nil {
			t.Fatal(err)
		}
		thief := login(hello("b"), "a", "a-secret")
		thief.CleanSession = false
		if code := dial(t, b).connect(thief); code != 2 {
			t.Errorf("code %d, want 2", code)
		}
		again := login(hello("b"), "b", "b-secret")
		again.CleanSession = false
		if got := join(t, b, again).next(); got != "1234" {
			t.Errorf("the owner got %q of what waited", got)
		}
	})
}

func TestBytesThatNoClientSends(t *testing.T) {
	for _, c := range []struct {
		name   string
		joined bool
		bytes  []byte
	}{
		{"256 MB before CONNECT", false, []byte{0x10, 0xFF, 0xFF, 0xFF, 0x7F}},
		{"64 KB CONNECT", false, []byte{0x10, 0xFF, 0xFF, 0x03}},
		{"publish before CONNECT", false, []byte{0x30, 4, 0, 1, 'a', 'x'}},
		{"length without end", false, []byte{0x10, 0xFF, 0xFF, 0xFF, 0xFF, 1}},
		{"256 MB publish", true, []byte{0x30, 0xFF, 0xFF, 0xFF, 0x7F}},
		{"second CONNECT", true, []byte{0x10, 14, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 60, 0, 2, 'x', 'y'}},
		{"topic past the end", true, []byte{0x30, 4, 0, 200, 'a', 'x'}},
		{"QoS 3", true, []byte{0x36, 6, 0, 1, 'a', 0, 1, 'x'}},
		{"publish on a wildcard", true, []byte{0x30, 5, 0, 3, 'a', '/', '+'}},
		{"id zero", true, []byte{0x32, 6, 0, 1, 'a', 0, 0, 'x'}},
		{"subscribe to nothing", true, []byte{0x82, 2, 0, 1}},
		{"a broker's packet", true, []byte{0x90, 3, 0, 1, 0}},
		{"AUTH", true, []byte{0xF0, 0}},
		{"33 levels", true, append([]byte{0x30, 35, 0, 33}, strings.Repeat("/", 33)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, Options{AllowAnonymousLoopback: true}, func(t *testing.T, b *Broker) {
				k := dial(t, b)
				if c.joined && k.connect(hello("k")) != 0 {
					t.Fatal("not let in")
				}
				_, _ = k.conn.Write(c.bytes)
				if !k.closed() {
					t.Error("the broker did not hang up")
				}
				if ok := join(t, b, hello("other")).publish(1, "a", "x", false); !ok {
					t.Error("the broker does not serve others")
				}
			})
		})
	}
}

func TestSilentSockets(t *testing.T) {
	bubble(t, Options{AllowAnonymousLoopback: true, MaxClients: 50}, func(t *testing.T, b *Broker) {
		var idle []*client
		for range 60 {
			idle = append(idle, dial(t, b))
		}
		slow := idle[0]
		start := time.Now()
		for i := range 20 { // one byte a second is no CONNECT either
			if _, err := slow.conn.Write([]byte{0x10, 14, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 60, 0, 2, 'x', 'y', 0, 0, 0, 0}[i : i+1]); err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		if took := time.Since(start); took > 7*time.Second {
			t.Errorf("a slow CONNECT was borne for %v", took)
		}
		for i, c := range idle {
			if !c.closed() {
				t.Fatalf("silent socket %d is still open", i)
			}
		}
		join(t, b, hello("late"))
	})
}

func TestKeepaliveIsEnforced(t *testing.T) {
	bubble(t, Options{AllowAnonymousLoopback: true}, func(t *testing.T, b *Broker) {
		c := join(t, b, hello("k"))
		start := time.Now()
		_ = c.conn.SetReadDeadline(time.Time{})
		if _, err := packets.ReadPacket(c.conn); err == nil || time.Since(start) > 91*time.Second {
			t.Errorf("a client that fell silent was dropped after %v with %v", time.Since(start), err)
		}
	})
}

func TestTooManySubscriptions(t *testing.T) {
	bubble(t, Options{AllowAnonymousLoopback: true}, func(t *testing.T, b *Broker) {
		c := join(t, b, hello("k"))
		for i := range maxSubscriptions {
			if code := c.subscribe(uint16(i+1), fmt.Sprint("t/", i), 1); code != 1 {
				t.Fatalf("subscription %d: code %d", i, code)
			}
		}
		if code := c.subscribe(9999, "one/more", 1); code != -1 {
			t.Errorf("subscription %d got code %d", maxSubscriptions+1, code)
		}
	})
}

func TestPerAddress(t *testing.T) {
	b := open(t, Options{AllowAnonymousLoopback: true, MaxPerAddress: 2})
	near, far := net.Pipe()
	defer near.Close()
	guest := address(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 1})
	for i := range 3 {
		c, err := b.admit(far, guest, false)
		if err != nil {
			t.Fatalf("connection %d of an address: %v", i+1, err)
		}
		defer b.release(c)
	}
	_ = near.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Error("none of three made room")
	}
	for range guessBurst {
		b.guesses.take(userAt{"a", guest})
	}
	if _, err := b.admit(far, guest, false); err == nil || !strings.Contains(err.Error(), "wrong passwords") {
		t.Errorf("an address that guesses passwords was let in: %v", err)
	}
}

func TestTLSIsRequired(t *testing.T) {
	b := open(t, Options{Listen: "127.0.0.1:0", AllowAnonymousLoopback: true, TLS: &tls.Config{}})
	stop := serve(t, b)
	defer stop()
	conn, err := net.Dial("tcp", b.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if c := (&client{t, conn}); c.connect(hello("k")) != -1 {
		t.Error("a client without TLS was let in")
	}
}
