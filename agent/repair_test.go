package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/claim"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
	"roomgate/agent/unlock"
	"roomgate/store"
)

// harm zeroes each page of a building's database on which there is that text.
func harm(t *testing.T, dir, row string) {
	t.Helper()
	path := filepath.Join(dir, Database)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0) // in place: a running building has it mapped
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	harmed := 0
	for at := 0; at < len(raw); at += 4096 {
		if !bytes.Contains(raw[at:min(at+4096, len(raw))], []byte(row)) {
			continue
		}
		if _, err := file.WriteAt(make([]byte, 4096), int64(at)); err != nil {
			t.Fatal(err)
		}
		harmed++
	}
	if harmed == 0 {
		t.Fatalf("%s is not in the database", row)
	}
}

func TestRepairIsToldUntilSomebodyHasLooked(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, rigOptions{dir: dir})
	begin := time.Now().UTC().Truncate(time.Hour).Add(24 * time.Hour)
	for i := range 80 {
		r.book(fmt.Sprintf("booking-%03d", i), begin.Add(time.Duration(i)*time.Hour), begin.Add(time.Duration(i+1)*time.Hour))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	harm(t, dir, "booking-040")
	for start := range 3 {
		r = openRig(t, rigOptions{dir: dir})
		told := slices.DeleteFunc(r.told(), func(e string) bool {
			return !strings.HasPrefix(e, "storeRepaired") && !strings.HasPrefix(e, "snapshotWanted")
		})
		if want := 1 + len(r.Site.Spaces()); len(told) != want || told[0] != "storeRepaired gateway" && told[0] != "storeRepaired" {
			t.Errorf("start %d: told %q, want %d", start, told, want)
		}
		h := r.Health.Report().StoreRepair
		if (h != nil) != (start < 2) {
			t.Fatalf("start %d: the heartbeat says %+v", start, h)
		}
		if h != nil {
			goldentest.Values(t, fmt.Sprintf("start %d: the heartbeat", start), goldentest.Pairs{"SetAside": {h.SetAside, Database + ".damaged-000001"},
				"Rows < 60": {h.Rows < 60, false}, "Unknown == 0": {h.Unknown == 0, false}, "bookings": {slices.Contains(h.Tables, "bookings"), true}})
		}
		kept := 0
		for i := range 80 {
			if _, ok := r.Site.Find(room).Room.Bookings().Get(fmt.Sprintf("booking-%03d", i)); ok {
				kept++
			}
		}
		if kept < 65 || kept == 80 {
			t.Errorf("start %d: %d of 80 bookings are there", start, kept)
		}
		if start == 1 {
			if err := r.Health.Database.Confirm(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// repaired opens a building whose last repair leaves these tables in doubt.
func repaired(t *testing.T, at time.Time, change func(tx *store.Tx) error, doubtful ...string) *rig {
	t.Helper()
	dir := t.TempDir()
	r := openRig(t, rigOptions{dir: dir})
	note := store.Repair{At: at, Cause: "test"}
	for _, name := range doubtful {
		note.Tables = append(note.Tables, store.TableRepair{Name: name, Holes: 1})
	}
	err := r.db.Update(t.Context(), func(tx *store.Tx) error { return errors.Join(change(tx), store.PutRepair(tx, note)) })
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	r = openRig(t, rigOptions{dir: dir})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestNoCommandIsNewAgainAfterARepair(t *testing.T) {
	at := time.Now().Add(-time.Minute)
	known := device.Stored{Command: device.Command{ID: "known", Space: room, DeviceType: "light", Action: "on", Via: device.ViaMQTT}, Receipt: device.Receipt{CommandID: "known", State: device.Done}}
	r := repaired(t, at, func(tx *store.Tx) error { return storedCommands.Put(tx, "known", known) }, storedCommands.Bucket())
	err := r.db.View(func(tx *store.Tx) error {
		ages, err := cloudAges.After(tx, 0, 10)
		if len(ages) != 1 || ages[0].Value != "known" {
			t.Errorf("%v: the command is never forgotten", ages)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		id     string
		sent   time.Time
		refuse bool
	}{{"known", at.Add(-time.Hour), false}, {"lost", at.Add(-time.Second), true}, {"later", at.Add(time.Second), false}} {
		_, err := r.Commands.Begin(t.Context(), device.Command{ID: c.id, Space: room, DeviceType: "light", Action: "on", Via: device.ViaMQTT, SentAt: c.sent, TTL: time.Hour})
		if refused := err != nil; refused != c.refuse || refused && device.AsError(err).Code != problem.Conflict {
			t.Errorf("%s: %v", c.id, err)
		}
	}
}

func TestConfigurationIsAppliedAgainAfterARepair(t *testing.T) {
	for _, doubtful := range []bool{false, true} {
		var tables []string
		if doubtful {
			tables = []string{unlock.CodeBucket()}
		}
		r := repaired(t, time.Now(), func(tx *store.Tx) error {
			return cloudConfigs.Put(tx, "current", map[string]any{"revision": 7, "message": "config-7"})
		}, tables...)
		want := "no receipt"
		if doubtful {
			want = "done"
		}
		if got := r.configure("config-7", 7, wholeConfig); got != want {
			t.Errorf("in doubt %v: %s, want %s", doubtful, got, want)
		}
		if got := r.configure("config-7", 7, wholeConfig); got != "no receipt" {
			t.Errorf("in doubt %v, once more: %s", doubtful, got)
		}
	}
}

func TestRulesDoNotActOnOldEventsAfterARepair(t *testing.T) {
	const ruleCursor eventlog.Cursor = "rules" // of the engine
	r := repaired(t, time.Now(), func(tx *store.Tx) error {
		for range 5 {
			if _, err := store.NewQueue[eventlog.Row]("log", 100, store.DropOldest).Push(tx, eventlog.Row{Type: "event.test", Data: []byte("{}")}); err != nil {
				return err
			}
		}
		return ruleCursor.Put(tx, 1)
	}, eventlog.Cursors())
	err := r.db.View(func(tx *store.Tx) error {
		cursor, _, err := ruleCursor.Get(tx)
		if cursor < 5 {
			t.Errorf("the rules go on after %d", cursor)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestStoredRowsAreShownWithoutSecrets(t *testing.T) {
	for bucket, v := range map[string]any{
		access.KeyBucket():        map[string]any{"id": "k", "name": "Integration", "hash": []byte("0123456789")},
		webhookRows.Bucket():      map[string]any{"id": "w", "url": "https://user:0123456789@example.com/0123456789", "sealed": "0123456789"},
		unlock.CodeBucket():       map[string]any{"name": "Integration", "hash": "0123456789", "salt": []any{"0123456789"}},
		planRows.Bucket():         map[string]any{"calendar": "https://example.com/0123456789.ics", "nested": []any{map[string]any{"access_token": "0123456789"}}},
		access.SecretBuckets()[1]: []map[string]any{{"id": "0123456789"}},
		claim.Buckets()[0]:        map[string]any{"organization": "Acme", "login": "0123456789"},
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		shown := string(ShowStored(bucket, raw))
		if strings.Contains(shown, "0123456789") || strings.Contains(shown, "MDEyMzQ1Njc4OQ") || !json.Valid([]byte(shown)) {
			t.Errorf("%s shows %s", bucket, shown)
		}
	}
	if shown := string(ShowStored(bookingRows.Bucket(), []byte(`{"title":"Standup","private":true}`))); shown != `{"private":true,"title":"Standup"}` {
		t.Errorf("a booking shows %s", shown)
	}
}

// A building whose database goes bad while it runs says that it is not ready, and ends.
func TestBuildingEndsWhenItsDatabaseIsDamaged(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, rigOptions{dir: dir})
	begin := time.Now().UTC().Truncate(time.Hour).Add(24 * time.Hour)
	r.book("booking-of-this-test", begin, begin.Add(time.Hour))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = openRig(t, rigOptions{dir: dir})
	harm(t, dir, "booking-of-this-test") // the building is open and writes nothing yet
	ended := make(chan error, 1)
	go func() { ended <- r.Run(t.Context()) }()
	for deadline := time.Now().Add(20 * time.Second); r.Health.Database.Sound() == nil && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		_ = r.db.View(func(tx *store.Tx) error { _, err := bookingRows.Get(tx, "booking-of-this-test"); return err })
	}
	if err := r.Health.Ready(); err == nil {
		t.Error("it is ready")
	}
	select {
	case err := <-ended:
		if !errors.Is(err, store.ErrDamaged) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
	_ = r.Close()
	r = openRig(t, rigOptions{dir: dir})
	defer r.Close()
	if r.Health.Database.Repair() == nil || r.Health.Database.Sound() != nil {
		t.Errorf("repaired: %v, sound: %v", r.Health.Database.Repair(), r.Health.Database.Sound())
	}
}
