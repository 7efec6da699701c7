package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/drivers"
)

// flooding is a kind of down message that nobody has signed, as it comes without end.
type flooding struct {
	what, level string
	data        func(i int) string
	same        bool // each has the id of the first
	retained    bool
	kind        string // its type; empty: that of the level
	rows        uint64 // that 5,000 at once write, at most
	bytes       int64
}

// refusedRows and refusedBytes are what refusals without end write at once: 200 receipts of 17 kB, and some that come later.
const (
	refusedRows  = 210
	refusedBytes = 5 << 20
)

// floods has each kind of down message, as it is taken, as it is refused, and as it comes again.
func floods() (all []flooding) {
	lit := func(i int) string {
		return fmt.Sprintf(`{"meeting_space_id":%q,"device_type":"light","action":%q}`, room, []string{drivers.ActOn, drivers.ActOff}[i%2])
	}
	always := func(data string) func(int) string { return func(int) string { return data } }
	delta := func(i int) string {
		return fmt.Sprintf(`{"meeting_space_id":%q,"revision":%d,"kind":"delta","bookings":[]}`, room, 7+i)
	}
	revision := func(i int) string { return fmt.Sprintf(`{"revision":%d,"reconnect_spread_s":%d}`, 1+i, i%60) }
	all = []flooding{
		{what: "commands", level: cloud.LevelCommand, data: lit, rows: 6300, bytes: 90 << 20},
		{what: "one command", level: cloud.LevelCommand, data: always(lit(0)), same: true, rows: 2 * refusedRows, bytes: refusedBytes},
		{what: "commands to unlock", level: cloud.LevelCommand, data: always(fmt.Sprintf(`{"meeting_space_id":%q,"device_type":"lock","action":"open"}`, room)),
			rows: refusedRows, bytes: refusedBytes},
		{what: "commands that are kept", level: cloud.LevelCommand, data: lit, retained: true, rows: refusedRows, bytes: refusedBytes},
		{what: "configurations that are kept", level: cloud.LevelConfig, data: revision, retained: true, rows: 6300, bytes: 100 << 20},
		{what: "one configuration that is kept", level: cloud.LevelConfig, data: always(revision(0)), same: true, retained: true, rows: refusedRows, bytes: refusedBytes},
		{what: "old configurations", level: cloud.LevelConfig, data: always(`{"revision":0}`), rows: refusedRows, bytes: refusedBytes},
		{what: "one delta", level: cloud.LevelSchedule, data: always(delta(0)), same: true, rows: refusedRows, bytes: refusedBytes},
		{what: "acknowledgements", level: cloud.LevelAck, data: func(i int) string { return fmt.Sprintf(`{"sequence":%d}`, i) }, bytes: 1 << 20},
		{what: "replays", level: cloud.LevelReplay, data: always(`{"from":1}`), rows: refusedRows, bytes: refusedBytes},
		{what: "claims", level: cloud.LevelClaim, data: always(`{"sealed":"bm8="}`), rows: refusedRows, bytes: refusedBytes},
		{what: "certificates", level: cloud.LevelEnrol, data: func(i int) string { return fmt.Sprintf(`{"sealed":"%s%08d"}`, strings.Repeat("bm8h", 300), i) }, rows: refusedRows, bytes: refusedBytes},
		{what: "one certificate", level: cloud.LevelEnrol, data: always(`{"sealed":"bm8="}`), same: true, rows: refusedRows, bytes: refusedBytes},
	}
	for _, level := range cloud.DownLevels() {
		all = append(all, flooding{what: "empty " + level, level: level, data: always(`{}`), rows: refusedRows, bytes: refusedBytes},
			flooding{what: level + " of no kind", level: level, kind: "roomgate.nothing", data: always(`{}`), rows: refusedRows, bytes: refusedBytes})
	}
	return all
}

// TestEachKindOfMessageHasABudget: what comes down without a signature writes little for how much of it comes, whatever it is,
// where signatures are wanted, and all of it is acknowledged.
func TestEachKindOfMessageHasABudget(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 5,000 messages of each kind")
	}
	for _, c := range floods() {
		t.Run(c.what, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startGuarded(t, withDoor)
				r.wait(5 * time.Second)
				rows, bytes := r.written(func() {
					for i := range 5000 {
						id := fmt.Sprint("f", i)
						if c.same {
							id = "same"
						}
						kind := c.kind
						if kind == "" {
							kind = cloud.TypeOf(c.level)
						}
						r.downAs(c.level, id, kind, c.data(i), time.Now(), c.retained)
						if i%10 == 9 { // else the lane of the light is what bounds them
							r.wait(20 * time.Millisecond)
						}
					}
					r.wait(5 * time.Second)
				})
				t.Logf("5,000 wrote %d rows and %d kB", rows, bytes>>10)
				if rows > c.rows || bytes > c.bytes {
					t.Errorf("5,000 %s wrote %d rows and %d bytes, want at most %d and %d", c.what, rows, bytes, c.rows, c.bytes)
				}
			})
		})
	}
	taken := map[string]bool{}
	for _, c := range floods() {
		taken[c.level] = taken[c.level] || c.kind == "" && !strings.HasPrefix(c.what, "empty")
	}
	for _, level := range cloud.DownLevels() {
		if !taken[level] {
			t.Errorf("no flood of down/%s is tried but of empty messages", level)
		}
	}
}

// TestBusyConfigurationIsToldOnce: one that the broker keeps comes with each connection, and while too many came that nobody
// has signed it hears so once, however long it has to wait each time. Then it is taken.
func TestBusyConfigurationIsToldOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startGuarded(t, withDoor)
		revision := 0
		for came := ""; came != "rejected busy too"; came = r.outcome(fmt.Sprint("f", revision)) {
			if revision++; revision > 5000 {
				t.Fatal("no configuration is too many")
			}
			r.down(cloud.LevelConfig, fmt.Sprint("f", revision), fmt.Sprintf(`{"revision":%d}`, revision), time.Now())
		}
		connect := func() {
			r.downAs(cloud.LevelConfig, "kept", cloud.TypeOf(cloud.LevelConfig), `{"revision":9999}`, time.Now(), true)
			r.wait(5 * time.Second)
		}
		for range 10 {
			connect()
		}
		if got := r.receipts("kept"); len(got) != 1 || got[0].Code != problem.Busy {
			t.Errorf("it is answered with %+v", got)
		}
		r.wait(3 * time.Minute)
		connect()
		if got := r.receipts("kept"); len(got) != 2 || got[1].State != device.Done {
			t.Errorf("three minutes later it is answered with %+v", got)
		}
	})
}

// TestRefusedConfigurationCostsNoOther: what is remembered of one that was refused is not beside all that the cloud manages.
func TestRefusedConfigurationCostsNoOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		var users []string
		for i := range 500 {
			users = append(users, fmt.Sprintf(`{"id":"u%d","email":"u%d@example.com","name":"%s"}`, i, i, strings.Repeat("x", 60)))
		}
		r.down(cloud.LevelConfig, "many", `{"revision":5,"users":[`+strings.Join(users, ",")+`]}`, time.Now())
		if got := r.outcome("many"); got != "done" {
			t.Fatal(got)
		}
		const n = 20
		_, bytes := r.written(func() {
			for i := range n {
				r.down(cloud.LevelConfig, fmt.Sprint("old", i), `{"revision":4}`, time.Now())
			}
		})
		t.Logf("each wrote %d bytes", bytes/n)
		if bytes/n > 30<<10 {
			t.Errorf("each of %d that were refused wrote %d bytes", n, bytes/n)
		}
	})
}
