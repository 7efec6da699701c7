package access

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/netip"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	org      = "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec0"
	otherOrg = "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec1"
)

var network = netip.MustParsePrefix("192.0.2.7/32")

// people are an admin, a member of an organization, and one who is disabled.
var people = []config.Person{
	{ID: "ada", Email: "Ada@example.com", Name: "Ada", Role: "admin", Enabled: true},
	{ID: "mel", Email: "mel@example.com", Name: "Mel", Role: "member", OrganizationID: org, Enabled: true},
	{ID: "off", Email: "off@example.com", Name: "Off", Role: "member"},
}

// rigOptions are a folder to open again, the mode of the clock (always without
// one), the system key, and the most that the store may hold.
type rigOptions struct {
	dir, trust, key string
	maxSize         int64
}

// rig is a directory on a real store, log and clock. Only mail is played.
type rig struct {
	*Directory
	t       testing.TB
	db      *store.DB
	events  *eventlog.Log
	Close   func() error
	stop    func()
	letters store.Table[[]byte]
}

// database is the name of the store in the folder.
const database = "roomgate.db"

var deviceSecret = []byte("a device secret, of which tests..")[:auth.SecretSize]

// openRig opens a directory without running it.
func openRig(t testing.TB, o rigOptions) *rig {
	t.Helper()
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	if o.trust == "" {
		o.trust = clock.Always
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	db, _, err := store.Open(t.Context(), filepath.Join(o.dir, database), store.Options{Schema: 1, MaxSize: o.maxSize, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := auth.NewKeys(deviceSecret)
	if err != nil {
		t.Fatal(err)
	}
	at, started := clock.New(clock.Options{Mode: o.trust}), time.Now()
	r := &rig{t: t, db: db, Close: sync.OnceValue(db.Close), stop: func() {}, letters: store.NewTable[[]byte]("letters"),
		events: eventlog.New(eventlog.Options{DB: db, Clock: at, Rows: 100, Log: log})}
	t.Cleanup(func() { _ = r.Close() })
	moment := func() auth.Moment {
		now := time.Now()
		return auth.Moment{Boot: r.events.Boot(), Up: now.Sub(started), Milli: now.UnixMilli(), Trusted: at.Trust() == clock.Trusted}
	}
	r.Directory, err = Open(t.Context(), Options{DB: db, Keys: keys, Moment: moment, Log: log, Gateway: "test", Title: "Test",
		Lifetime: 12 * time.Hour, Rotation: 720 * time.Hour, SystemKey: o.key, People: people, Organizations: []string{org},
		Mail: r.post, Mailed: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// post keeps the last letter of each account sealed, as a mail queue does.
func (r *rig) post(tx *store.Tx, l CodeLetter) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return r.letters.Put(tx, l.Account, r.keys.Seal(l.Account, text))
}

// run runs the directory until the test or stop ends it.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			r.t.Errorf("Run: %v", err)
		}
		if err := r.Close(); err != nil {
			r.t.Errorf("Close: %v", err)
		}
	})
	r.t.Cleanup(r.stop)
}

// wait lets virtual time pass.
func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

var sixDigits = regexp.MustCompile(`(?m)^ +([0-9]{6})`)

// code is the one-time password of the newest letter to an address.
func (r *rig) code(email string) string {
	r.t.Helper()
	account := r.pair(email, network).id
	var l CodeLetter
	err := r.db.View(func(tx *store.Tx) error {
		sealed, err := r.letters.Get(tx, account)
		if err != nil {
			return err
		}
		text, err := r.keys.Open(account, sealed)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &l)
	})
	found := sixDigits.FindStringSubmatch(l.Text)
	if err != nil || found == nil || l.To != email || l.Decoy {
		r.t.Fatalf("the letter to %s is %+v, %v", email, l, err)
	}
	return found[1]
}

func (r *rig) request(t testing.TB, email string) {
	t.Helper()
	if err := r.RequestOTP(t.Context(), email, network); err != nil {
		t.Fatalf("request for %s: %v", email, err)
	}
}

// wantRefused wants a code not to be taken, with the one answer there is.
func (r *rig) wantRefused(t *testing.T, why, email, code string) {
	t.Helper()
	token, user, err := r.VerifyOTP(t.Context(), email, code, network, "")
	if e := problem.As(err); e == nil {
		t.Errorf("%s: %q, %v, %v", why, token, user, err)
	} else {
		goldentest.Values(t, why, goldentest.Pairs{"token": {token, ""}, "user": {user, (User{})},
			"Code":  {e.Code, problem.Unauthorized},
			"Error": {e.Error(), "otp is wrong, used or too old: correct it, or ask for a new one"}})
	}
}

// tries is how often the code under way was tried, -1 without one.
func (r *rig) tries(email string, from netip.Prefix) (n int) {
	_ = r.db.View(func(tx *store.Tx) error {
		c, err := accounts.Get(tx, r.pair(email, from).id)
		if n = c.Tries; err != nil || len(c.Hash) == 0 {
			n = -1
		}
		return nil
	})
	return n
}

// isSystem says whether a secret is that of a key that may do everything.
func (r *rig) isSystem(secret string) bool {
	p, ok := r.AuthenticateKey(secret)
	return ok && p.System()
}
