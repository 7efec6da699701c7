package broker

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRefused: who is refused for his password is named with his address, until he comes in there or an
// hour has passed. A name that is nobody's is neither kept nor repeated.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		b := open(t, Options{Users: map[string]string{"zigbee2mqtt": "right", "hub": "else"}})
		b.log = newNotes(slog.New(slog.NewJSONHandler(&said, nil)))
		for range 3 {
			dial(t, b).connect(login(hello("c"), "zigbee2mqtt", "wrong"))
		}
		dial(t, b).connect(login(hello("c"), "hunter2", "wrong"))
		dial(t, b).connect(hello("c"))
		now := time.Now()
		want := []Refused{{"zigbee2mqtt", "this machine", 3, now, false}}
		if got := b.Refused(); len(got) != 1 || got[0] != want[0] {
			t.Errorf("%+v, want %+v", got, want)
		}
		for line, words := range map[int]string{0: `"user":"zigbee2mqtt"`, 3: `"user":"an unknown user"`, 4: `"user":"nobody"`} {
			if got := strings.Split(said.String(), "\n")[line]; !strings.Contains(got, words) || !strings.Contains(got, "password is wrong") {
				t.Errorf("line %d is %s, want %s", line, got, words)
			}
		}
		if strings.Contains(said.String(), "hunter2") || !strings.Contains(said.String(), `"address":"pipe"`) {
			t.Errorf("a name that may be a password is in the log, or no address: %s", &said)
		}
		join(t, b, login(hello("c"), "zigbee2mqtt", "right"))
		if got := b.Refused(); got != nil {
			t.Errorf("it came in, and %+v", got)
		}
		dial(t, b).connect(login(hello("d"), "zigbee2mqtt", "wrong"))
		if got := b.Refused(); len(got) != 1 || got[0].Times != 1 || !got[0].In {
			t.Errorf("somebody else of its name: %+v", got)
		}
		time.Sleep(refusedFor + time.Second)
		if got := b.Refused(); got != nil {
			t.Errorf("an hour later %+v", got)
		}
	})
}

// TestRefusalsAreBounded: somebody with many addresses makes no long list, and the newest are on it.
func TestRefusalsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, Options{Users: map[string]string{"hub": "x"}})
		for i := range 3 * mostRefused {
			b.refusals.note(userAt{"hub", netip.MustParseAddr(fmt.Sprintf("10.0.%d.1", i))})
			time.Sleep(time.Second)
		}
		got := b.Refused()
		if len(got) != mostRefused {
			t.Errorf("%d are kept", len(got))
		}
		for _, one := range got {
			if time.Since(one.Last) > mostRefused*time.Second {
				t.Errorf("an old one is kept: %+v", one)
			}
		}
	})
}
