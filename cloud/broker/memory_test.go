package broker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// memoryChild names the environment variable that makes of this test program a
// broker in a process of its own.
const memoryChild = "ROOMGATE_TEST_BROKER"

// mostMemory is what a process with nothing but a broker may ever take, and what
// the gateway's unit gives the garbage collector.
const (
	mostMemory  = 200 << 20
	memoryLimit = "GOMEMLIMIT=160MiB"
)

// serveChild is the child's side: a broker with sixty users, each at home below
// its own name, until its input ends.
func serveChild() error {
	o := Options{Listen: "127.0.0.1:0", Users: map[string]string{}, Log: quiet,
		ACL: func(user, topic string, _ bool) bool { return strings.HasPrefix(topic, user+"/") }}
	for i := range 60 {
		o.Users[userOf(i)] = "secret"
	}
	b, err := Open(o)
	if err != nil {
		return err
	}
	go func() { _ = b.Run(context.Background()) }()
	fmt.Println(b.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return b.Close()
}

func userOf(i int) string { return fmt.Sprint("guest", i) }

// victim is the child as its attackers see it.
type victim struct {
	t       *testing.T
	pid     int
	address string
	ids     atomic.Int64
}

func startVictim(t *testing.T) *victim {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), memoryChild+"=1", memoryLimit)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := c.Wait(); err != nil {
			t.Errorf("the broker ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return &victim{t: t, pid: c.Process.Pid, address: strings.TrimSpace(line)}
}

// peak is the most memory that the child ever had, in bytes (proc_pid_status(5)).
func (v *victim) peak() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.pid))
	if err != nil {
		v.t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	var kib int
	if _, err := fmt.Sscan(line, &kib); err != nil {
		v.t.Fatal(err)
	}
	return kib << 10
}

// join logs a guest in, with a session that outlives the connection if stay.
// Nil: the broker would not have it.
func (v *victim) join(user, id string, stay bool) *client {
	conn, err := net.Dial("tcp", v.address)
	if err != nil {
		return nil
	}
	c := &client{v.t, conn}
	p := login(hello(user+"/"+id), user, "secret")
	p.CleanSession = !stay
	if c.connect(p) != 0 {
		_ = conn.Close()
		return nil
	}
	return c
}

// absent leaves a session behind that waits for everything of its user.
func (v *victim) absent(user, id string) {
	c := v.join(user, id, true)
	if c == nil {
		return
	}
	c.subscribe(1, user+"/#", 1)
	_ = c.conn.Close()
}

// flood publishes as fast as the broker takes it, until stop. Who is thrown out
// comes back.
func (v *victim) flood(user string, qos byte, retain bool, topic func(i int) string, stop <-chan time.Time) {
	payload := strings.Repeat("x", 60_000)
	for i := 0; ; {
		c := v.join(user, fmt.Sprint(user, "-", v.ids.Add(1)), false)
		if c == nil {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				continue
			}
		}
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = io.Copy(io.Discard, c.conn)
		}()
		for sent := true; sent; i++ {
			select {
			case <-stop:
				_ = c.conn.Close()
				<-gone
				return
			case <-gone:
				sent = false
			default:
				c.send(message(uint16(i%60000+1), topic(i), payload, qos, retain))
			}
		}
		_ = c.conn.Close()
		<-gone
	}
}

// deaf subscribes and reads nothing, again and again.
func (v *victim) deaf(user string, qos byte, stop <-chan struct{}) {
	for {
		c := v.join(user, fmt.Sprint(user, "-deaf-", v.ids.Add(1)), false)
		if c == nil {
			return
		}
		c.subscribe(1, user+"/#", qos)
		select {
		case <-stop:
			_ = c.conn.Close()
			return
		case <-time.After(2 * time.Second):
			_ = c.conn.Close()
		}
	}
}

// willing logs in with the largest will, retained on a branch of its own. Nil: the
// broker would not have it.
func (v *victim) willing(user string, n int) *client {
	conn, err := net.Dial("tcp", v.address)
	if err != nil {
		return nil
	}
	c := &client{v.t, conn}
	p := will(login(hello(fmt.Sprint(user, "/will", n)), user, "secret"), deep(user, n))
	p.CleanSession, p.WillMessage = n%2 == 0, make([]byte, 15<<10)
	if c.connect(p) != 0 {
		_ = conn.Close()
		return nil
	}
	return c
}

// deep is a filter of as many levels as there may be, no two alike.
func deep(user string, i int) string {
	return user + fmt.Sprintf("/%d", i) + strings.Repeat("/l", maxLevels-3)
}

// TestMemoryIsBoundedUnderAttack attacks a broker in a process of its own, and looks
// at the most memory that it ever had. Each attack took it to several times the
// limit of the gateway's unit.
func TestMemoryIsBoundedUnderAttack(t *testing.T) {
	if !measured {
		t.Skip("it measures: make test-all and make faults have it")
	}
	const long = time.Second
	for _, attack := range []struct {
		name string
		run  func(v *victim)
	}{
		{"one user, two absent sessions", func(v *victim) {
			v.absent("guest0", "a")
			v.absent("guest0", "b")
			v.flood("guest0", 1, false, func(i int) string { return "guest0/x" }, time.After(long))
		}},
		{"sixty users, two absent sessions each", func(v *victim) {
			for i := range 60 {
				v.absent(userOf(i), "a")
				v.absent(userOf(i), "b")
			}
			crowd(60, func(i int) {
				v.flood(userOf(i), 1, false, func(int) string { return userOf(i) + "/x" }, time.After(long))
			})
		}},
		{"small messages for absent sessions", func(v *victim) {
			for i := range 100 {
				v.absent("guest0", fmt.Sprint("a", i))
			}
			c := v.join("guest0", "writer", false)
			for i := range 2500 {
				c.publish(uint16(i+1), "guest0/x", "x", false)
			}
		}},
		{"readers that do not read", func(v *victim) {
			stop := make(chan struct{})
			var all sync.WaitGroup
			for i := range 120 {
				all.Go(func() { v.deaf(userOf(i%4), byte(i%2), stop) })
			}
			crowd(8, func(i int) {
				v.flood(userOf(i%4), byte(i/4), false, func(int) string { return userOf(i%4) + "/x" }, time.After(long))
			})
			close(stop)
			all.Wait()
		}},
		{"retained, each on a branch of its own", func(v *victim) {
			crowd(4, func(i int) {
				v.flood(userOf(i), 1, true, func(n int) string { return deep(userOf(i), n) }, time.After(long))
			})
		}},
		{"subscriptions of absent sessions", func(v *victim) {
			crowd(8, func(i int) {
				for n := range 10 {
					c := v.join(userOf(i), fmt.Sprint("s", n), true)
					for k := 0; c != nil && k < maxSubscriptions; k += 32 {
						p := packets.NewControlPacket(packets.Subscribe).(*packets.SubscribePacket)
						p.MessageID = 1
						for m := range 32 {
							p.Topics, p.Qoss = append(p.Topics, deep(userOf(i), (n*maxSubscriptions)+k+m)), append(p.Qoss, 1)
						}
						c.send(p)
						if c.read() == nil {
							break
						}
					}
					if c != nil {
						_ = c.conn.Close()
					}
				}
			})
		}},
		{"wills of clients that vanish", func(v *victim) {
			crowd(20, func(i int) {
				for end, n := time.Now().Add(long), 0; time.Now().Before(end); n++ {
					c := v.willing(userOf(i), n)
					if c == nil {
						return
					}
					_ = c.conn.Close()
				}
			})
		}},
		{"packets that do not end", func(v *victim) {
			var open []net.Conn
			for i := range 190 {
				if c := v.join(userOf(i%60), fmt.Sprint("loris", i), false); c != nil {
					_, _ = c.conn.Write([]byte{0x30, 0xFF, 0xFF, 0x03, 0, 1, 'a'})
					_, _ = c.conn.Write(make([]byte, 65_000))
					open = append(open, c.conn)
				}
			}
			time.Sleep(500 * time.Millisecond)
			for _, c := range open {
				_ = c.Close()
			}
		}},
	} {
		t.Run(attack.name, func(t *testing.T) {
			v := startVictim(t)
			before := v.peak()
			attack.run(v)
			peak := v.peak()
			t.Logf("%d MB before, %d MB at most", before>>20, peak>>20)
			if peak > mostMemory {
				t.Errorf("the broker took %d MB, want at most %d", peak>>20, mostMemory>>20)
			}
			if c := v.join("guest59", "late", false); c == nil || !c.publish(1, "guest59/x", "x", false) {
				t.Error("the broker does not serve others any more")
			}
		})
	}
}

// crowd runs f beside itself.
func crowd(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}
