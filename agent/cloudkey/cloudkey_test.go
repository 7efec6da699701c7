package cloudkey

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is the keys on a real store.
type rig struct {
	*testing.T
	*Signers
	path   string
	db     *store.DB
	clock  *clock.Clock
	events *eventlog.Log
	log    bytes.Buffer
}

func openRig(t *testing.T, trust, unsigned string) *rig {
	t.Helper()
	r := &rig{T: t, path: filepath.Join(t.TempDir(), "test.db"), clock: clock.New(clock.Options{Mode: trust})}
	r.open(unsigned)
	t.Cleanup(func() { _ = r.db.Close() })
	return r
}

// open opens the keys, again if they are open.
func (r *rig) open(unsigned string) {
	r.Helper()
	if r.db != nil {
		_ = r.db.Close()
	}
	var err error
	if r.db, _, err = store.Open(r.Context(), r.path, store.Options{Schema: 1}); err != nil {
		r.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&r.log, nil))
	r.events = eventlog.New(eventlog.Options{DB: r.db, Clock: r.clock, Rows: 100, Flush: time.Second, Log: log})
	if r.Signers, err = Open(r.Context(), Options{DB: r.db, Clock: r.clock, Log: log, Unsigned: unsigned}); err != nil {
		r.Fatal(err)
	}
}

// hold makes those the keys, or returns why not.
func (r *rig) hold(all ...Key) error {
	s, err := r.Stage(all)
	if err != nil {
		return err
	}
	return r.events.Commit(r.Context(), s)
}

// signer is a key by its name.
func signer(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// key is the public one of a signer.
func key(name string, may ...string) Key {
	return Key{Public: signer(name).Public().(ed25519.PublicKey), May: may}
}

func idOf(name string) string { return cloud.KeyID(key(name).Public) }

// verify has a message of a level signed by that key, and says what comes of it.
func (r *rig) verify(level, by string) (string, error) {
	r.Helper()
	s, err := cloud.ReadSigned(cloud.Sign(signer(by), []byte(`{}`)))
	if err != nil {
		r.Fatal(err)
	}
	return r.Verify(level, s)
}

// wantCode wants a refusal with that code, about that field.
func wantCode(t *testing.T, what string, err error, code problem.Code, field string) {
	t.Helper()
	if p := problem.As(err); p == nil || p.Code != code || p.Field != field {
		t.Errorf("%s: %v, want %s %s", what, err, code, field)
	}
}

func TestOnlyAHeldKeyCounts(t *testing.T) {
	r := openRig(t, clock.Always, Auto)
	_, err := r.verify(cloud.LevelCommand, "a")
	wantCode(t, "no key is held", err, problem.Forbidden, "keyid")
	if err := r.hold(key("a"), key("b", cloud.LevelCommand), key("c", cloud.LevelConfig)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if want := []string{idOf("a"), idOf("b"), idOf("c")}; !slices.Equal(r.IDs(), want) {
			t.Errorf("it holds %q, want %q", r.IDs(), want)
		}
		for _, c := range []struct {
			level, by string
			field     string
		}{
			{cloud.LevelCommand, "a", ""}, {cloud.LevelConfig, "a", ""}, {"schedule", "a", "keyid"}, {"claim", "a", "keyid"},
			{cloud.LevelCommand, "b", ""}, {cloud.LevelConfig, "b", "keyid"}, {cloud.LevelCommand, "c", "keyid"}, {cloud.LevelConfig, "c", ""},
			{cloud.LevelCommand, "d", "keyid"},
		} {
			by, err := r.verify(c.level, c.by)
			if c.field != "" {
				wantCode(t, c.level+" by "+c.by, err, problem.Forbidden, c.field)
			} else if err != nil || by != idOf(c.by) {
				t.Errorf("%s by %s: %s, %v", c.level, c.by, by, err)
			}
		}
		r.open(Auto)
	}
	s, _ := cloud.ReadSigned(cloud.Sign(signer("a"), []byte(`{}`)))
	s.Type = "application/vnd.in-toto+json"
	_, err = r.Verify(cloud.LevelCommand, s)
	wantCode(t, "another type", err, problem.Invalid, "payloadType")
	s.Type, s.KeyID = cloud.SignedType, idOf("b")
	_, err = r.Verify(cloud.LevelCommand, s)
	wantCode(t, "another's key", err, problem.Forbidden, "sig")
}

func TestKeysFollowEachOther(t *testing.T) {
	r := openRig(t, clock.Always, Auto)
	if err := r.hold(key("old")); err != nil {
		t.Fatal(err)
	}
	if err := r.hold(Key{ID: idOf("old")}, key("new")); err != nil { // both while it is rotated; the old one by its name
		t.Fatal(err)
	}
	for _, name := range []string{"old", "new"} {
		if _, err := r.verify(cloud.LevelCommand, name); err != nil {
			t.Errorf("by %s while both are held: %v", name, err)
		}
	}
	if err := r.hold(Key{ID: idOf("new")}); err != nil {
		t.Fatal(err)
	}
	r.open(Auto)
	if _, err := r.verify(cloud.LevelCommand, "new"); err != nil {
		t.Errorf("by the new one: %v", err)
	}
	_, err := r.verify(cloud.LevelCommand, "old")
	wantCode(t, "by the revoked one", err, problem.Forbidden, "keyid")
}

func TestKeysThatAreRefused(t *testing.T) {
	r := openRig(t, clock.Always, Auto)
	if err := r.hold(key("a")); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	limited, backwards, wrongName := key("b"), key("b"), key("b")
	limited.NotAfter, backwards.NotBefore, backwards.NotAfter, wrongName.ID = at, at, at, idOf("c")
	for what, c := range map[string]struct {
		keys  []Key
		code  problem.Code
		field string
	}{
		"none":                    {nil, problem.Invalid, ""},
		"five":                    {[]Key{key("a"), key("b"), key("c"), key("d"), key("e")}, problem.Invalid, ""},
		"twice":                   {[]Key{key("a"), key("b"), key("a")}, problem.Invalid, "[2].keyid"},
		"short":                   {[]Key{key("a"), {Public: make([]byte, 31)}}, problem.Invalid, "[1].key"},
		"empty":                   {[]Key{{}}, problem.Invalid, "[0].key"},
		"unknown":                 {[]Key{{ID: idOf("b")}}, problem.NotFound, "[0].keyid"},
		"another name":            {[]Key{wrongName}, problem.Invalid, "[0].keyid"},
		"may do what":             {[]Key{key("a"), key("b", "schedule")}, problem.Invalid, "[1].may"},
		"may do it twice":         {[]Key{key("a", cloud.LevelConfig, cloud.LevelConfig)}, problem.Invalid, "[0].may"},
		"ends first":              {[]Key{key("a"), backwards}, problem.Invalid, "[1].not_after"},
		"none for configurations": {[]Key{key("a", cloud.LevelCommand)}, problem.Invalid, ""},
		"none for good":           {[]Key{limited}, problem.Invalid, ""},
	} {
		wantCode(t, what, r.hold(c.keys...), c.code, c.field)
	}
	if !slices.Equal(r.IDs(), []string{idOf("a")}) {
		t.Errorf("it holds %q after that", r.IDs())
	}
}

func TestKeyHasItsTime(t *testing.T) {
	for _, trust := range []string{clock.Always, clock.Never} {
		synctest.Test(t, func(t *testing.T) {
			r := openRig(t, trust, Auto)
			k := key("k")
			k.NotBefore, k.NotAfter = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
			if err := r.hold(key("a"), k); err != nil {
				t.Fatal(err)
			}
			for _, valid := range []bool{false, true, false} {
				_, err := r.verify(cloud.LevelCommand, "k")
				switch {
				case trust == clock.Never:
					wantCode(t, "without trust", err, problem.NotNow, "")
				case valid && err != nil:
					t.Errorf("in its time: %v", err)
				case !valid:
					wantCode(t, "out of its time", err, problem.Forbidden, "keyid")
				}
				if _, err := r.verify(cloud.LevelCommand, "a"); err != nil {
					t.Errorf("by one without a time: %v", err)
				}
				time.Sleep(time.Hour)
			}
			_ = r.db.Close()
		})
	}
}

// TestUnsigned: what nobody signed is refused as soon as a key is held, unless the
// configuration says otherwise, and no loss of the keys opens that again.
func TestUnsigned(t *testing.T) {
	for setting, want := range map[string][2]bool{Auto: {true, false}, Refuse: {false, false}, Allow: {true, true}} {
		r := openRig(t, clock.Always, setting)
		open := device.Command{DeviceType: "lock", Action: "open"}
		for i, held := range []bool{false, true} {
			if held {
				if err := r.hold(key("a")); err != nil {
					t.Fatal(err)
				}
				r.open(setting)
			}
			_, err := r.Judge(cloud.Envelope{}, open)
			part := r.Part(cloud.Envelope{}, "unlock_codes")
			if want[i] != r.UnsignedAllowed() || want[i] != (err == nil) || want[i] != (part == nil) {
				t.Errorf("%q, a key is held: %v: unsigned %v, %v, %v", setting, held, r.UnsignedAllowed(), err, part)
			}
			for _, c := range []device.Command{{DeviceType: "lock", Action: "close"}, {DeviceType: "light", Action: "on"}} {
				if count, err := r.Judge(cloud.Envelope{}, c); err != nil || count != nil {
					t.Errorf("%q: %+v: %v", setting, c, err)
				}
			}
			if r.Part(cloud.Envelope{}, "") != nil || r.Part(cloud.Envelope{SignedBy: "k"}, "keys") != nil {
				t.Errorf("%q refuses a configuration that opens nothing, or is signed", setting)
			}
		}
	}
	r := openRig(t, clock.Always, Auto)
	r.Expect()
	if r.UnsignedAllowed() || !strings.Contains(r.log.String(), "are lost") {
		t.Errorf("lost keys: unsigned %v, the log says %s", r.UnsignedAllowed(), &r.log)
	}
	if err := r.events.Commit(t.Context(), r.StageNone()); err != nil || !r.UnsignedAllowed() {
		t.Errorf("released: %v, unsigned %v", err, r.UnsignedAllowed())
	}
}

func TestSignedCommandsSayWhatTheyNeed(t *testing.T) {
	r := openRig(t, clock.Always, Allow)
	open := device.Command{DeviceType: "lock", Action: "open", ExpiresAt: time.Now()}
	signed := cloud.Envelope{SignedBy: "k", Counter: 1}
	if count, err := r.Judge(signed, open); err != nil || count == nil {
		t.Errorf("whole: %v", err)
	}
	_, err := r.Judge(cloud.Envelope{SignedBy: "k"}, open)
	wantCode(t, "without a counter", err, problem.Invalid, "counter")
	open.ExpiresAt, open.TTL = time.Time{}, time.Second
	_, err = r.Judge(signed, open)
	wantCode(t, "with a ttl only", err, problem.Invalid, "expires_at")
}

// count counts n of a key in a transaction of its own.
func (r *rig) counts(key string, n uint64) error {
	return r.db.Update(r.Context(), func(tx *store.Tx) error { return r.count(tx, key, n) })
}

func TestCounters(t *testing.T) {
	r := openRig(t, clock.Always, Auto)
	for i, c := range []struct {
		n    uint64
		good bool
	}{
		{100, true}, {100, false}, {99, true}, {99, false}, {36, true}, {35, false}, {101, true}, {36, false}, {37, true}, {99, false},
		{165, true}, {101, false}, {100, false}, {164, true}, {1 << 63, true}, {165, false}, {1<<64 - 1, true}, {1<<64 - 2, true}, {1<<64 - 1, false},
	} {
		err := r.counts("a", c.n)
		if c.good && err != nil {
			t.Errorf("%d: %d: %v", i, c.n, err)
		} else if !c.good {
			wantCode(t, "used or too old", err, problem.Conflict, "counter")
		}
		r.open(Auto) // it is stored
	}
	if err := r.counts("b", 1); err != nil {
		t.Errorf("another key: %v", err)
	}
}

// TestCountersHoldWhateverComes compares the window with a plain memory of it.
func TestCountersHoldWhateverComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c counted
		used := map[uint64]bool{}
		var highest uint64
		for _, n := range rapid.SliceOfN(rapid.Uint64Range(1, 400), 1, 200).Draw(t, "counters") {
			good := !used[n] && n+width >= highest
			if err := c.use(n); good != (err == nil) {
				t.Fatalf("%d below %d: %v", n, highest, err)
			}
			if good {
				used[n], highest = true, max(highest, n)
			}
		}
	})
}

// TestCountersAreFew: keys come and go, and those that are held keep theirs.
func TestCountersAreFew(t *testing.T) {
	r := openRig(t, clock.Always, Auto)
	if err := r.hold(key("held")); err != nil {
		t.Fatal(err)
	}
	for _, id := range append([]string{idOf("held")}, strings.Split("abcdefghijklmnopqrstuvwxyz", "")...) {
		if err := r.counts(id, 7); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, "of the key that is held", r.counts(idOf("held"), 7), problem.Conflict, "counter")
	if err := r.db.View(func(tx *store.Tx) error {
		if n := counters.Len(tx); n != mostCounters {
			t.Errorf("%d counters are kept", n)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
