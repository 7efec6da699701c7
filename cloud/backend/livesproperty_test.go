package backend

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"roomgate/cloud"
)

// written is a row of a gateway.
type written struct {
	boot string
	seq  uint64
}

// lineage is a backend, whose ledger is read again after each row, and gateways with one id.
type lineage struct {
	t      rapid.TB
	p      *progress
	handed map[written]int
	logs   [][]written // of each gateway
	acked  []int       // rows of each log
	boots  int
	now    time.Time
}

func newLineage(t rapid.TB) *lineage {
	return &lineage{t: t, p: &progress{}, handed: map[written]int{}, now: time.Unix(0, 0)}
}

// send brings a row. Each is handed on at most once.
func (l *lineage) send(r written) {
	w := &worker{Backend: &Backend{o: Options{Log: slog.New(slog.DiscardHandler)}}}
	j := &job{Received: Received{Gateway: "g", Envelope: cloud.Envelope{BootID: r.boot, Sequence: r.seq}}}
	if w.enter(l.p, j, l.now) {
		l.handed[r]++
	}
	if l.handed[r] > 1 {
		l.t.Fatalf("%v is handed on twice", r)
	}
	heard := max(l.p.heard, r.seq)
	p, err := readProgress(l.p.encode())
	if err != nil {
		l.t.Fatal(err)
	}
	l.p, l.p.heard = p, heard
}

// start begins a start of gateway i that writes rows.
func (l *lineage) start(i, rows int) {
	l.boots++
	l.write(i, fmt.Sprint("b", l.boots), rows)
}

func (l *lineage) write(i int, boot string, rows int) {
	for range rows {
		l.logs[i] = append(l.logs[i], written{boot, uint64(len(l.logs[i])) + 1})
	}
}

// acknowledge tells gateway i, of which all that was sent has come, how far its rows are stored.
func (l *lineage) acknowledge(i int) {
	if l.now.Sub(l.p.contested) < contestTime {
		return
	}
	l.p.again = true
	end := l.p.due()
	upTo := min(int(end), len(l.logs[i]))
	for _, r := range l.logs[i][:upTo] {
		if l.handed[r] == 0 {
			l.t.Fatalf("%v is acknowledged with %d, and was not handed on: ranges %v, logs %v", r, end, l.p.ranges, l.logs)
		}
	}
	l.acked[i] = max(l.acked[i], upTo)
}

// Over starts, clones, restored and lost stores, rows out of order and replays each row is handed
// on once, and nothing is acknowledged that was not. Rows come out of order within settleTime.
func TestLivesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLineage(t)
		l.logs, l.acked = [][]written{nil}, []int{0}
		l.start(0, 3)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			i := rapid.IntRange(0, len(l.logs)-1).Draw(t, "gateway")
			n := len(l.logs[i])
			l.p.heard = 0 // it connects
			switch rapid.SampledFrom([]string{"start", "write", "clone", "restore", "lose", "send", "shuffle", "replay"}).Draw(t, "step") {
			case "start":
				l.start(i, rapid.IntRange(1, 4).Draw(t, "rows"))
			case "write":
				if n > 0 {
					l.write(i, l.logs[i][n-1].boot, rapid.IntRange(1, 4).Draw(t, "rows"))
				}
			case "clone": // a copy writes as another start
				if len(l.logs) < 3 {
					l.logs, l.acked = append(l.logs, slices.Clone(l.logs[i])), append(l.acked, l.acked[i])
					l.start(len(l.logs)-1, 1)
				}
			case "restore":
				at := rapid.IntRange(0, n).Draw(t, "backup")
				l.logs[i], l.acked[i] = slices.Clone(l.logs[i][:at]), min(l.acked[i], at)
				l.start(i, 1)
			case "lose":
				l.logs[i], l.acked[i] = nil, 0
				l.start(i, 2)
			case "send":
				l.sendAll(i)
			case "shuffle":
				rows := slices.Clone(l.logs[i][l.acked[i]:])
				for _, r := range rapid.Permutation(rows).Draw(t, "order") {
					l.send(r)
				}
				l.acknowledge(i)
			case "replay":
				for _, r := range l.logs[i][rapid.IntRange(0, n).Draw(t, "from"):] {
					l.send(r)
				}
			}
		}
		for i := range l.logs {
			l.p.heard = 0
			l.sendAll(i)
		}
		for i, log := range l.logs {
			for _, r := range log {
				if l.handed[r] != 1 {
					t.Fatalf("%v of gateway %d is handed on %d times", r, i, l.handed[r])
				}
			}
		}
	})
}

// sendAll sends what is not acknowledged, in order, and hears an acknowledgement after each row.
func (l *lineage) sendAll(i int) {
	for _, r := range slices.Clone(l.logs[i][l.acked[i]:]) {
		l.send(r)
		l.acknowledge(i)
	}
}

// What was doubled or lost before each start's own rows were kept.
func TestLives(t *testing.T) {
	for name, rows := range map[string][]written{
		"a hundred starts, and then all is replayed":            slices.Concat(starts(100), starts(100)),
		"a restored gateway's first rows come after later ones": slices.Concat(run("a", 1, 20), run("c", 21, 21), run("c", 15, 20), run("c", 22, 22)),
		"a clone and its original are both restarted": slices.Concat(run("a", 1, 20), run("c", 21, 23), run("a", 21, 23), run("d", 24, 26), run("c", 24, 26),
			run("e", 27, 28), run("d", 27, 29), run("a", 18, 23), run("c", 21, 26), run("d", 24, 29), run("e", 27, 28)),
	} {
		l := newLineage(t)
		for _, r := range rows {
			l.send(r)
		}
		for _, r := range rows {
			if l.handed[r] != 1 {
				t.Errorf("%s: %v is handed on %d times", name, r, l.handed[r])
			}
		}
	}
}

// A gateway that starts again often is no other life, and no clone, when it sends again.
func TestManyStartsAreOneLife(t *testing.T) {
	l := newLineage(t)
	for range 2 {
		for _, r := range starts(maxRanges + 200) {
			l.send(r)
		}
	}
	if len(l.handed) != maxRanges+200 || l.p.life != 0 || !l.p.contested.IsZero() {
		t.Errorf("%d rows, life %d, contested %v", len(l.handed), l.p.life, l.p.contested)
	}
}

// The ledger of a release that knew no starts' rows is read: what it has is known.
func TestLedgerOfEarlierRelease(t *testing.T) {
	l := newLineage(t)
	var err error
	if l.p, err = readProgress([]byte(`{"ranges":[[1,5]],"boots":["a","b"]}`)); err != nil {
		t.Fatal(err)
	}
	for _, r := range slices.Concat(run("a", 1, 3), run("b", 4, 6), run("c", 3, 4)) {
		l.send(r)
	}
	if got := slices.Collect(maps.Keys(l.handed)); len(got) != 3 || l.handed[written{"b", 6}] != 1 || l.handed[written{"c", 3}] != 1 || l.handed[written{"c", 4}] != 1 {
		t.Errorf("handed on are %v, want b 6, c 3 and c 4", got)
	}
}

func run(boot string, from, to uint64) (rows []written) {
	for seq := from; seq <= to; seq++ {
		rows = append(rows, written{boot, seq})
	}
	return rows
}

// starts are rows of a gateway that starts again after each.
func starts(n int) (rows []written) {
	for i := range n {
		rows = append(rows, written{fmt.Sprint("start-", i), uint64(i) + 1})
	}
	return rows
}
