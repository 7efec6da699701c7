package cloud

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
	"pgregory.net/rapid"
)

// sink is a broker that keeps what it is given and acknowledges when told to.
type sink struct {
	t    *testing.T
	mu   sync.Mutex
	runs [][]uint64 // sequences by connection, in the order of arrival
	mute bool       // no PUBACK
	held int        // PUBLISHes without PUBACK on this connection
	most int        // the largest held
}

func (k *sink) serve(conn net.Conn) {
	defer conn.Close()
	s := script{k.t, conn}
	if !s.accept() {
		return
	}
	k.mu.Lock()
	k.runs, k.held = append(k.runs, nil), 0
	k.mu.Unlock()
	for p := s.read(); p != nil; p = s.read() {
		if pub, ok := p.(*packets.PublishPacket); !ok || k.take(pub) {
			s.ack(p)
		}
	}
}

func (k *sink) take(p *packets.PublishPacket) (ack bool) {
	seq, _ := strconv.ParseUint(string(p.Payload), 10, 64)
	k.mu.Lock()
	defer k.mu.Unlock()
	last := len(k.runs) - 1
	k.runs[last] = append(k.runs[last], seq)
	if k.mute {
		k.held++
		k.most = max(k.most, k.held)
	}
	return !k.mute
}

func (k *sink) silence(mute bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mute = mute
}

// seen is how often each sequence arrived, and the run of the last connection.
func (k *sink) seen() (count map[uint64]int, last []uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	count = map[uint64]int{}
	for _, run := range k.runs {
		for _, seq := range run {
			count[seq]++
		}
		last = run
	}
	return count, last
}

// plant is a link to a sink and an uplink over it.
type plant struct {
	*cable
	sink sink
	box  rows
	up   *Uplink
	stop func()
}

func newPlant(t *testing.T, o UplinkOptions) *plant {
	p := &plant{sink: sink{t: t}}
	p.cable = newCable(t, p.sink.serve)
	l := NewLink(LinkOptions{URL: "mqtt://cloud", ClientID: "g", Dial: p.cable.dial, Log: quiet})
	o.Log = quiet
	o.History = p.box.history
	p.up = NewUplink(l, &p.box, o)
	link, up := run(t, l.Run), run(t, p.up.Run)
	p.stop = func() { up(); link() }
	t.Cleanup(p.stop)
	return p
}

func wantRange(t *testing.T, got []uint64, from, to uint64) {
	t.Helper()
	for i, seq := range got {
		if seq != from+uint64(i) {
			t.Fatalf("row %d is sequence %d, want %d", i, seq, from+uint64(i))
		}
	}
	if uint64(len(got)) != to-from+1 {
		t.Fatalf("%d rows arrived, want %d to %d", len(got), from, to)
	}
}

func TestUplinkAfterTenMinutes(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := newPlant(t, UplinkOptions{Acks: AcksBroker, Window: 50})
		time.Sleep(soon)
		p.unplug(true)
		for range 600 {
			p.box.add(5)
			p.up.Wake()
			time.Sleep(time.Second)
		}
		p.unplug(false)
		time.Sleep(2 * time.Minute)
		_, last := p.sink.seen()
		wantRange(t, last, 1, 3000)
		if f := p.box.forgotten(); f != 3000 {
			t.Errorf("outbox forgot up to %d", f)
		}
		synctest.Wait()
		if p.box.steps() > 20 {
			t.Errorf("outbox was told %d times to forget", p.box.steps())
		}
	})
}

func TestUplinkKeepsTheWindow(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := newPlant(t, UplinkOptions{Acks: AcksBroker, Window: 7})
		p.sink.silence(true)
		p.box.add(100)
		p.up.Wake()
		time.Sleep(soon)
		synctest.Wait()
		if p.sink.most != 7 {
			t.Errorf("%d messages in flight, the window is 7", p.sink.most)
		}
		if p.box.forgotten() != 0 {
			t.Error("rows without PUBACK were forgotten")
		}
		p.sink.silence(false)
		p.cut()
		time.Sleep(soon)
		_, last := p.sink.seen()
		wantRange(t, last, 1, 100)
	})
}

func TestUplinkWaitsForTheBackend(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := newPlant(t, UplinkOptions{Window: 10})
		p.box.add(30)
		p.up.Wake()
		time.Sleep(soon)
		if p.box.forgotten() != 0 {
			t.Fatal("rows were forgotten on PUBACK")
		}
		p.up.Acked(20)
		p.up.Acked(12) // late, changes nothing
		time.Sleep(soon)
		if f := p.box.forgotten(); f != 20 {
			t.Errorf("outbox forgot up to %d, the backend has 20", f)
		}
		p.cut()
		time.Sleep(soon)
		_, last := p.sink.seen()
		wantRange(t, last, 21, 30)
		p.up.Acked(1 << 60)
		time.Sleep(soon)
		if f := p.box.forgotten(); f != 30 {
			t.Errorf("outbox forgot up to %d of 30", f)
		}
	})
}

func TestUplinkSendsAgainToASilentBackend(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := newPlant(t, UplinkOptions{Window: 10})
		time.Sleep(time.Second)
		p.box.add(3)
		p.up.Wake()
		for _, c := range []struct {
			after time.Duration
			times int
		}{{59 * time.Second, 1}, {2 * time.Second, 2}, {118 * time.Second, 2}, {4 * time.Second, 3}, {24 * time.Hour, 100}} {
			time.Sleep(c.after)
			synctest.Wait()
			count, _ := p.sink.seen()
			if n := count[1]; n != c.times && !(c.times == 100 && n > 90 && n < 105) {
				t.Errorf("after another %v the first row was sent %d times, want %d", c.after, n, c.times)
			}
		}
		p.up.Acked(3)
		time.Sleep(time.Second)
		before, _ := p.sink.seen()
		time.Sleep(time.Hour)
		if after, _ := p.sink.seen(); after[3] != before[3] {
			t.Error("rows that are acknowledged were sent again")
		}
	})
}

func TestUplinkDoesNotRunAwayFromABackend(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := newPlant(t, UplinkOptions{Window: 10})
		time.Sleep(time.Second)
		p.up.Acked(0) // the backend is there
		p.box.add(1000)
		p.up.Wake()
		time.Sleep(time.Second)
		if last := p.up.Stats().Last; last != 100 {
			t.Errorf("%d rows were sent to a backend that acknowledged none, want 100", last)
		}
		for i := uint64(1); i <= 1000; i++ {
			p.up.Acked(i)
			synctest.Wait()
		}
		count, last := p.sink.seen()
		wantRange(t, last, 1, 1000)
		if count[1] != 1 {
			t.Errorf("the first row was sent %d times", count[1])
		}
	})
}

func TestUplinkRate(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := newPlant(t, UplinkOptions{Acks: AcksBroker, Window: 10, Rate: 100})
		time.Sleep(soon)
		p.box.add(1010)
		p.up.Wake()
		time.Sleep(5 * time.Second)
		if n := p.up.Stats().Last; n < 500 || n > 520 {
			t.Errorf("%d rows left in 5 s at 100 per second and a burst of 10", n)
		}
	})
}

func TestUplinkReplaysBesideTheBacklog(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := newPlant(t, UplinkOptions{Acks: AcksBroker, Window: 5, Rate: 100})
		p.box.add(200)
		p.up.Wake()
		time.Sleep(10 * time.Second)
		if !p.up.Replay(50, 60) || !p.up.Replay(199, 0) {
			t.Fatal("replay was refused")
		}
		p.box.add(20)
		p.up.Wake()
		time.Sleep(10 * time.Second)
		count, _ := p.sink.seen()
		for seq := uint64(1); seq <= 220; seq++ {
			want := 1
			if (seq >= 50 && seq <= 60) || seq == 199 || seq == 200 {
				want = 2
			}
			if count[seq] != want {
				t.Errorf("row %d arrived %d times, want %d", seq, count[seq], want)
			}
		}
		if n := p.up.Stats().Replayed; n != 13 {
			t.Errorf("%d rows were replayed, want 13", n)
		}
		for range maxReplays {
			p.up.Replay(1, 200)
		}
		if p.up.Replay(1, 200) {
			t.Error("replays are not bounded")
		}
	})
}

func TestUplinkPassesOverWhatCannotBeSent(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		p := newPlant(t, UplinkOptions{Acks: AcksBroker})
		p.box.addSpoiled(3, 2, errors.New("disk is slow"))
		p.up.Wake()
		time.Sleep(10 * time.Second)
		if count, _ := p.sink.seen(); count[1] != 1 || count[2] != 0 || count[3] != 1 {
			t.Errorf("arrived: %v", count)
		}
		if f := p.box.forgotten(); f != 3 || p.up.Stats().Skipped != 1 {
			t.Errorf("forgot up to %d, skipped %d", f, p.up.Stats().Skipped)
		}
	})
}

// Whatever happens in whatever order: every row arrives, a connection hears
// rows in order, and nothing is forgotten that was not acknowledged.
func TestUplinkProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		acks := rapid.SampledFrom([]string{AcksBackend, AcksBroker}).Draw(rt, "acks")
		window := rapid.IntRange(1, 12).Draw(rt, "window")
		plan := rapid.SliceOfN(rapid.IntRange(0, 7), 1, 40).Draw(rt, "plan")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 30), len(plan), len(plan)).Draw(rt, "sizes")
		var problem error
		inBubble(t, func(t *testing.T, ctx context.Context) {
			p := newPlant(t, UplinkOptions{Acks: acks, Window: window})
			problem = p.play(acks, plan, sizes)
		})
		if problem != nil {
			rt.Fatal(problem)
		}
	})
}

func (p *plant) play(acks string, plan, sizes []int) error {
	var acked uint64
	for i, step := range plan {
		switch step {
		case 0, 1:
			p.box.add(sizes[i])
			p.up.Wake()
		case 2:
			p.cut()
		case 3:
			p.unplug(true)
		case 4:
			p.unplug(false)
		case 5:
			p.sink.silence(sizes[i]%2 == 0)
		case 6:
			acked = p.consumed()
			p.up.Acked(acked)
		case 7:
			time.Sleep(time.Duration(sizes[i]) * 100 * time.Millisecond)
		}
		synctest.Wait()
		if f := p.box.forgotten(); f > p.consumed() || (acks == AcksBackend && f > acked) {
			return fmt.Errorf("step %d: forgot %d, consumed %d, acknowledged %d", i, f, p.consumed(), acked)
		}
	}
	p.sink.silence(false)
	p.unplug(true)
	p.unplug(false)
	time.Sleep(10 * time.Minute)
	if n := p.consumed(); n != uint64(len(p.box.all)) {
		return fmt.Errorf("%d of %d rows arrived", n, len(p.box.all))
	}
	p.up.Acked(p.consumed())
	time.Sleep(time.Minute)
	if f := p.box.forgotten(); f != uint64(len(p.box.all)) {
		return fmt.Errorf("forgot %d of %d rows", f, len(p.box.all))
	}
	return p.ordered()
}

// consumed is the sequence up to which everything arrived.
func (p *plant) consumed() (n uint64) {
	for count, _ := p.sink.seen(); count[n+1] > 0; n++ {
	}
	return n
}

// ordered checks every connection: rows rise by one, except where a silent
// backend made the uplink begin again.
func (p *plant) ordered() error {
	p.sink.mu.Lock()
	defer p.sink.mu.Unlock()
	for i, run := range p.sink.runs {
		for j := 1; j < len(run); j++ {
			if run[j] > run[j-1]+1 || (p.up.o.Acks == AcksBroker && run[j] <= run[j-1]) {
				return fmt.Errorf("connection %d: %d follows %d", i, run[j], run[j-1])
			}
		}
	}
	return nil
}
