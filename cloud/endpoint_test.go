package cloud

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// several is a network with brokers of some names, of which some are out.
type several struct {
	mu    sync.Mutex
	at    map[string]*cable
	out   map[string]bool
	tried []string
}

func (n *several) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	host, _, _ := net.SplitHostPort(address)
	n.tried = append(n.tried, host)
	if n.out[host] {
		return nil, errUnplugged
	}
	return n.at[host].dial(ctx, network, address)
}

// kill ends a broker, or brings it back.
func (n *several) kill(host string, out bool) {
	n.mu.Lock()
	n.out[host], n.tried = out, nil
	n.mu.Unlock()
	if out {
		n.at[host].cut()
	}
}

func (n *several) dialled() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.tried)
}

// When one of several brokers dies the link is at the next one in less than 2 s, also if
// that is out too; and when all are out it tries each before it pauses.
func TestBrokersInTurn(t *testing.T) {
	for range 6 { // the pause is drawn
		inBubble(t, func(t *testing.T, _ context.Context) {
			n := &several{at: map[string]*cable{}, out: map[string]bool{}}
			for _, name := range []string{"a", "b", "c"} {
				_, n.at[name] = newBroker(t)
			}
			l := NewLink(LinkOptions{URL: "mqtt://a, mqtt://b,mqtt://c", ClientID: "g", Dial: n.dial, Log: quiet, Spread: func() time.Duration { return 2 * time.Second }})
			defer run(t, l.Run)()
			time.Sleep(2 * time.Minute) // none is brief
			for _, c := range []struct {
				die  []string
				want []string
			}{{[]string{"a"}, []string{"b"}}, {[]string{"c", "b"}, []string{"c", "a"}}} {
				for _, host := range []string{"a", "b", "c"} {
					n.kill(host, slices.Contains(c.die, host))
				}
				time.Sleep(2*time.Second - time.Nanosecond)
				if got := n.dialled(); !l.Connected() || !slices.Equal(got, c.want) {
					t.Errorf("%q died: connected %v, tried %q, want %q", c.die, l.Connected(), got, c.want)
				}
				time.Sleep(2 * time.Minute)
			}
			for _, host := range []string{"a", "b", "c"} {
				n.kill(host, true)
			}
			synctest.Wait()
			time.Sleep(2 * time.Second)
			got := n.dialled()
			if len(got) < 3 || len(got)%3 != 0 || !slices.Equal(got[:3], []string{"b", "c", "a"}) {
				t.Errorf("all died: tried %q", got)
			}
			n.kill("b", false)
			time.Sleep(awayPause)
			if !l.Connected() {
				t.Error("one is back, and the link is not")
			}
		})
	}
}

// A broker that closes soon is tried again before another: it may do so because of a
// second client with this id, which is found out by that.
func TestTwoWithOneIDAreToldAtOneBroker(t *testing.T) {
	inBubble(t, func(t *testing.T, _ context.Context) {
		n := &several{at: map[string]*cable{}, out: map[string]bool{"b": true}}
		_, n.at["a"] = newBroker(t)
		one := NewLink(LinkOptions{URL: "mqtt://a,mqtt://b", ClientID: "g", Dial: n.dial, Log: quiet, Own: Own{Topic: "up/presence", Mine: func(m Message) bool { return string(m.Payload) == "one" }},
			Birth: func() Message { return Message{Topic: "up/presence", Payload: []byte("one"), QoS: 1, Retained: true} }})
		other := NewLink(LinkOptions{URL: "mqtt://a,mqtt://b", ClientID: "g", Dial: n.dial, Log: quiet,
			Birth: func() Message { return Message{Topic: "up/presence", Payload: []byte("other"), QoS: 1, Retained: true} }})
		defer run(t, one.Run)()
		defer run(t, other.Run)()
		time.Sleep(5 * time.Minute)
		if one.Contested() == 0 {
			t.Errorf("it is not told: %+v", one.Trouble())
		}
	})
}

func TestWrongURLs(t *testing.T) {
	for _, raw := range []string{"", ",", "mqtt://a,", "mqtt://a,http://b", "mqtt://a,mqtt://b/path", "mqtt://a,b", "mqtt://a mqtt://b"} {
		if CheckURL(raw) == nil {
			t.Errorf("%q is taken", raw)
		}
	}
}

func TestCommaInAPassword(t *testing.T) {
	all, err := targets("mqtt://u:a,b@x, mqtts://y")
	if password, _ := all[0].url.User.Password(); err != nil || len(all) != 2 || password != "a,b" || all[1].address != "y:8883" {
		t.Errorf("%v, %v", all, err)
	}
}
