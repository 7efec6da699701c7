package claim

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/cloudkey"
	"roomgate/agent/cloudlink"
	"roomgate/agent/eventlog"
	"roomgate/agent/eventlog/eventlogtest"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/cloud/backend"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const acme = "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec0"

var acmeClaim = backend.Claim{OrganizationID: acme, Organization: "Acme", Username: "roomgate-test", Password: "a-secret-of-test"}

// rig is a claim on a real store and log, in a building that notes what it is
// asked.
type rig struct {
	*testing.T
	*Claim
	db   *store.DB
	path string
	keys *auth.Keys
	log  bytes.Buffer

	receipts      map[string]*problem.Error // by message; nil: it was carried out
	organizations map[string]string         // names by id
	refused       error                     // what storing an organization returns
	logins        int                       // how often the login has changed
}

func openRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, path: filepath.Join(t.TempDir(), "test.db"), receipts: map[string]*problem.Error{}, organizations: map[string]string{}}
	r.keys = r.newKeys()
	r.open()
	t.Cleanup(func() { _ = r.db.Close() })
	return r
}

func (r *rig) newKeys() *auth.Keys {
	keys, err := auth.NewKeys(auth.NewSecret())
	if err != nil {
		r.Fatal(err)
	}
	return keys
}

// open opens the claim, again if it is open.
func (r *rig) open() {
	r.Helper()
	if r.db != nil {
		_ = r.db.Close()
	}
	var err error
	if r.db, _, err = store.Open(r.Context(), r.path, store.Options{Schema: 1}); err != nil {
		r.Fatal(err)
	}
	now := clock.New(clock.Options{Mode: clock.Always})
	signers, err := cloudkey.Open(r.Context(), cloudkey.Options{DB: r.db, Clock: now, Log: slog.New(slog.NewTextHandler(&r.log, nil))})
	if err != nil {
		r.Fatal(err)
	}
	started := time.Now()
	r.Claim, err = Open(r.Context(), Options{DB: r.db, Signers: signers, Clock: now, Keys: r.keys, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		Events: eventlog.New(eventlog.Options{DB: r.db, Clock: now, Rows: 100, Flush: time.Second, Log: slog.New(slog.DiscardHandler)}),
		Cloud:  Settings{URL: "mqtt://cloud"}, ID: "test",
		Moment: func() auth.Moment {
			return auth.Moment{Boot: "b", Up: time.Since(started), Milli: time.Now().UnixMilli(), Trusted: true}
		},
		Online: func() bool { return true }, Page: func() string { return "" },
		Organization: func(_ *store.Tx, id, name string, _ time.Time) error {
			r.organizations[id] = name
			return r.refused
		},
		Receipts: cloudlink.Receipts{Answer: func(_ *store.Tx, message string) error { r.receipts[message] = nil; return nil },
			Again: func(_ context.Context, m cloud.Envelope) error { r.receipts[m.ID] = nil; return nil },
			Refuse: func(_ context.Context, m cloud.Envelope, why *problem.Error) error {
				r.receipts[m.ID] = why
				return nil
			}},
		LoginChanged: func() { r.logins++ }})
	if err != nil {
		r.Fatal(err)
	}
}

// bring brings a code to the cloud, and returns why it was refused; nil: it was
// not.
func (r *rig) bring(id, code string, c backend.Claim) *problem.Error {
	r.Helper()
	sealed, err := backend.SealClaim("test", code, c)
	if err != nil {
		r.Fatal(err)
	}
	data, _ := json.Marshal(sealed)
	return r.send(id, string(data))
}

func (r *rig) send(id, data string) *problem.Error {
	r.Helper()
	if err := r.Take(r.Context(), cloud.Envelope{ID: id, Data: json.RawMessage(data)}); err != nil {
		r.Fatal(err)
	}
	why, answered := r.receipts[id]
	if !answered {
		r.Fatalf("%s got no receipt", id)
	}
	return why
}

func (r *rig) want(what, state string) Status {
	r.Helper()
	g := r.Status()
	if g.State != state {
		r.Errorf("%s: it is %s, want %s", what, g.State, state)
	}
	return g
}

// wantLogin wants the gateway to log in as user/password.
func (r *rig) wantLogin(what, want string) {
	r.Helper()
	user, password, err := r.Login()
	if got := user + "/" + password; got != want || err != nil {
		r.Errorf("%s: it logs in as %s, %v, want %s", what, got, err, want)
	}
}

// told are the kinds of the events so far, oldest first.
func (r *rig) told() []string { return eventlogtest.Kinds(r, r.o.Events) }

// inTime runs a test on a rig in virtual time.
func inTime(t *testing.T, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(openRig(t)) })
}
