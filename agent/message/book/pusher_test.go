package book

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/message"
	"roomgate/agent/push/pushtest"
)

// A gateway that is down is left alone longer and longer, and what waits goes
// oldest first once it is back.
func TestPushBacksOffAndDrainsOldestFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.out.Script(func(string) *pushtest.Fault { return &pushtest.Fault{Lost: errors.New("broken")} })
		var want []string
		for i := range 5 {
			r.send(message.To{UserID: "ada"}, fmt.Sprint(i))
			want = append(want, fmt.Sprint("ada-phone ", i))
		}
		r.wait(time.Hour)
		asked := r.out.Asked()
		if asked < 15 || asked > 25 { // 1 + 3 + 10 + 30 + 60 + 120 s, then every 5 min and up to a quarter more
			t.Errorf("asked %d times in an hour", asked)
		}
		r.out.Script(nil)
		r.wait(7 * time.Minute)
		if got := r.pushed(); !slices.Equal(got, want) {
			t.Errorf("pushed %q, want %q", got, want)
		}
		if strings.Count(r.text.String(), "takes no messages") != 1 {
			t.Errorf("the log: %s", r.text)
		}
	})
}

func TestPushHonoursRetryAfter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.fails(429, "600")
		m := r.send(message.To{UserID: "ada"}, "busy")
		r.wait(time.Second)
		r.wantPush("too many", m.ID, message.Queued, "429")
		r.out.Script(nil)
		if at := r.attempts(599 * time.Second); len(at) != 1 && len(at) != 0 {
			t.Errorf("asked again at %q", at)
		}
		r.wantPush("still", m.ID, message.Queued, "429")
		r.wait(160 * time.Second)
		r.wantPush("after it", m.ID, message.Sent, "")
	})
}

// What the gateway refuses for good does not hold up the others, and what it
// cannot digest steps aside.
func TestPushRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.out.Script(func(topic string) *pushtest.Fault {
			return map[string]*pushtest.Fault{"rooms-mel": {Status: 403}, "rooms-bob": {Status: 500}}[topic]
		})
		refused := r.send(message.To{UserID: "mel"}, "refused")
		poison := r.send(message.To{UserID: "bob"}, "poison")
		good := r.send(message.To{UserID: "ada"}, "good")
		r.wait(5 * time.Second)
		r.wantPush("refused", refused.ID, message.Failed, "403")
		r.wait(time.Minute)
		r.wantPush("poison", poison.ID, message.Queued, "500")
		r.wantPush("good", good.ID, message.Sent, "")
		if r.failures() != 1 {
			t.Errorf("%d events", r.failures())
		}
		r.wait(25 * time.Hour)
		r.wantPush("poison", poison.ID, message.Expired, "expired")
		if r.failures() != 2 {
			t.Errorf("%d events", r.failures())
		}
	})
}

func TestPushExpires(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		r.fails(503, "")
		short := hello(message.To{UserID: "ada"}, "short")
		short.Life = 10 * time.Minute
		m, err := r.Send(t.Context(), short, "")
		if err != nil {
			t.Fatal(err)
		}
		dated := hello(message.To{UserID: "ada"}, "dated")
		dated.ExpiresAt = time.Now().Add(20 * time.Minute)
		d, err := r.Send(t.Context(), dated, "")
		if err != nil {
			t.Fatal(err)
		}
		r.wait(10*time.Minute + time.Second)
		r.wantPush("short", m.ID, message.Expired, "")
		r.wantPush("dated", d.ID, message.Queued, "")
		r.stop()
		time.Sleep(10 * time.Minute) // without power
		r = startRig(t, rigOptions{dir: dir})
		r.wait(time.Second)
		r.wantPush("dated", d.ID, message.Expired, "")
		if len(r.out.Taken()) != 0 {
			t.Errorf("pushed all the same: %q", r.pushed())
		}
	})
}

// What waits survives a restart and a kill, and comes with the id that it had.
func TestPushSurvives(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		r.fails(503, "")
		m := r.send(message.To{UserID: "ada"}, "waits")
		r.wait(time.Second)
		r.stop()
		r = openRig(t, rigOptions{dir: dir})
		if s, err := r.read(m.ID); err != nil || !s.Push.Open() {
			t.Fatalf("%+v, %v", s.Push, err)
		}
		if err := r.db.Close(); err != nil { // it never ran: as if it was killed at once
			t.Fatal(err)
		}
		r = startRig(t, rigOptions{dir: dir})
		r.wait(time.Second)
		r.wantPush("after two restarts", m.ID, message.Sent, "")
		if got := r.out.Taken(); len(got) != 1 || got[0].Sequence != m.ID {
			t.Errorf("%+v", got)
		}
		r.stop()
		r = startRig(t, rigOptions{dir: dir})
		r.wait(time.Minute)
		r.wantPush("after another", m.ID, message.Sent, "")
		if len(r.out.Taken()) != 0 {
			t.Errorf("pushed again: %q", r.pushed())
		}
	})
}

// An answer that got lost makes the message come twice, with one id.
func TestPushAnswerIsLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.out.Script(func(string) *pushtest.Fault { return &pushtest.Fault{After: true, Lost: errors.New("broken")} })
		m := r.send(message.To{UserID: "ada"}, "twice")
		r.wait(500 * time.Millisecond)
		r.out.Script(nil)
		r.wait(time.Minute)
		r.wantPush("twice", m.ID, message.Sent, "")
		if got := r.out.Taken(); len(got) != 2 || got[0].Sequence != m.ID || got[1].Sequence != m.ID {
			t.Errorf("%+v", got)
		}
	})
}

// After a restart without a clock nobody knows what has expired: it waits.
func TestPushWithoutAClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir, trust: clock.Never})
		fresh := r.send(message.To{UserID: "ada"}, "of this run")
		r.wait(time.Second)
		r.wantPush("its age is known", fresh.ID, message.Sent, "")
		r.fails(503, "")
		old := r.send(message.To{UserID: "ada"}, "of the run before")
		r.wait(time.Second)
		r.stop()
		r = startRig(t, rigOptions{dir: dir, trust: clock.Never})
		r.wait(time.Hour)
		r.wantPush("its age is not", old.ID, message.Queued, "clock")
		if len(r.out.Taken()) != 0 {
			t.Errorf("pushed %q", r.pushed())
		}
		r.wait(message.UsualLife)
		r.wantPush("surely too old", old.ID, message.Expired, "")
	})
}

// A gateway that is taken out of the configuration leaves nothing waiting.
func TestPushIsGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		r.fails(401, "")
		m := r.send(message.To{UserID: "ada"}, "x")
		r.wait(time.Second)
		r.wantPush("not known", m.ID, message.Queued, "401")
		r.stop()
		r = startRig(t, rigOptions{dir: dir, nobody: true})
		r.wait(time.Second)
		r.wantPush("nobody to send it to", m.ID, message.Failed, "no push gateway")
	})
}
