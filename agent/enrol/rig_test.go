package enrol

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/cloudlink"
	"roomgate/agent/eventlog"
	"roomgate/agent/eventlog/eventlogtest"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/cloud/authority"
	"roomgate/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	brokers = "mqtts://cloud"
	first   = "mqtts://first"
)

// rig is an enrolment on a real store and log, with a real authority, and a broker that
// believes what it is told to believe.
type rig struct {
	*testing.T
	*Enrolment
	db      *store.DB
	path    string
	keys    *auth.Keys
	log     bytes.Buffer
	clock   *clock.Clock
	claimed loop.Broadcast
	secret  []byte

	ca       *authority.Authority
	believes *x509.CertPool // of the broker
	refuses  cloud.Cause    // of every log-in
	deaf     bool           // the cloud does not answer
	away     bool           // there is no connection
	asked    int            // requests that the cloud got
	tried    int
	renewed  int
	touched  atomic.Int64 // what a test sets is seen by the loop, and the other way round
	receipts map[string]*problem.Error
}

func openRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, path: filepath.Join(t.TempDir(), "test.db"), receipts: map[string]*problem.Error{}}
	keys, err := auth.NewKeys(auth.NewSecret())
	if err != nil {
		t.Fatal(err)
	}
	r.keys, r.clock = keys, clock.New(clock.Options{Mode: clock.Always})
	r.ca, r.believes = newAuthority(t)
	r.open()
	t.Cleanup(func() { _ = r.db.Close() })
	return r
}

// newAuthority is one, and who believes it.
func newAuthority(t *testing.T) (*authority.Authority, *x509.CertPool) {
	t.Helper()
	dir := t.TempDir()
	ca, err := authority.Init(dir, "Acme gateways", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, authority.RootFile))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	block, _ := pem.Decode(raw)
	root, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(root)
	return ca, pool
}

// open opens the enrolment, again if it is open.
func (r *rig) open() {
	r.Helper()
	if r.db != nil {
		_ = r.db.Close()
	}
	var err error
	if r.db, _, err = store.Open(r.Context(), r.path, store.Options{Schema: 1}); err != nil {
		r.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&r.log, nil))
	r.Enrolment, err = Open(r.Context(), Options{DB: r.db, Clock: r.clock, Keys: r.keys, Log: log,
		Events:  eventlog.New(eventlog.Options{DB: r.db, Clock: r.clock, Rows: 100, Flush: time.Second, Log: slog.New(slog.DiscardHandler)}),
		Gateway: "test", URL: brokers, First: first,
		Secret: func() []byte { return r.secret }, Claimed: r.claimed.Wait, Send: r.send, Try: r.try,
		Renew: func() { r.renewed++ },
		Receipts: cloudlink.Receipts{Answer: func(_ *store.Tx, id string) error { r.receipts[id] = nil; return nil },
			Refuse: func(_ context.Context, m cloud.Envelope, why *problem.Error) error {
				r.receipts[m.ID] = why
				return nil
			}}})
	if err != nil {
		r.Fatal(err)
	}
}

// claim brings a secret, as a claim does.
func (r *rig) claim() {
	r.Helper()
	var err error
	if r.secret, err = r.ca.Admit("test"); err != nil {
		r.Fatal(err)
	}
	r.claimed.Wake()
}

// send is the cloud that answers.
func (r *rig) send(_ context.Context, data any) bool {
	r.touched.Add(1)
	defer r.touched.Add(1)
	if r.away {
		return false
	}
	r.asked++
	if r.deaf {
		return true
	}
	answer, err := r.ca.Answer("test", data.(cloud.Enrolled))
	if err != nil {
		r.Error(err)
		return true
	}
	if why := r.bring("m"+time.Now().String(), answer); why != nil {
		r.Errorf("the answer is refused: %v", why)
	}
	return true
}

// bring brings an answer to the gateway, and returns why it was refused.
func (r *rig) bring(id string, answer cloud.Enrolled) *problem.Error {
	r.Helper()
	raw, _ := json.Marshal(answer)
	if err := r.Take(r.Context(), cloud.Envelope{ID: id, Data: raw}); err != nil {
		r.Fatal(err)
	}
	why, answered := r.receipts[id]
	if !answered {
		r.Fatalf("%s got no receipt", id)
	}
	return why
}

// try is the broker: it wants a certificate of an authority that it believes, in its time.
func (r *rig) try(_ context.Context, at string, pair *tls.Certificate) (cloud.Trouble, bool) {
	r.touched.Add(1)
	defer r.touched.Add(1)
	r.tried++
	if r.refuses != "" {
		return cloud.Trouble{Cause: r.refuses, Error: "it does"}, r.refuses != cloud.CauseUnreachable
	}
	if at != brokers {
		r.Errorf("tried at %s", at)
	}
	return r.judge(pair), true
}

func (r *rig) judge(pair *tls.Certificate) cloud.Trouble {
	_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: r.believes, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, CurrentTime: time.Now()})
	if err != nil {
		return cloud.Trouble{Cause: cloud.CauseCertificate, Error: err.Error(), At: time.Now()}
	}
	return cloud.Trouble{}
}

// run runs the loop while do does something, and ends it.
func (r *rig) run(do func()) {
	r.Helper()
	ctx, cancel := context.WithCancel(r.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Enrolment.Run(ctx) }()
	synctest.Wait()
	do()
	r.sleep(0)
	cancel()
	if err := <-ended; err != nil {
		r.Error(err)
	}
}

// sleep lets time pass, and the loop do what it has to do by then.
func (r *rig) sleep(d time.Duration) {
	r.touched.Add(1)
	time.Sleep(d)
	synctest.Wait()
	r.touched.Add(1)
}

// shown is what the gateway shows; nil: nothing.
func (r *rig) shown() *x509.Certificate {
	r.Helper()
	pair, err := r.Show(nil)
	if err != nil {
		r.Fatal(err)
	}
	return pair.Leaf
}

func (r *rig) want(what, state string) {
	r.Helper()
	if s := r.Status(); s == nil || s.State != state {
		r.Errorf("%s: the certificate is %+v, want %s", what, s, state)
	}
}

func (r *rig) wantTold(want ...string) {
	r.Helper()
	if told := eventlogtest.Kinds(r, r.o.Events); !slices.Equal(told, want) {
		r.Errorf("told %q, want %q\n%s", told, want, strings.TrimSpace(r.log.String()))
	}
}

// inTime runs a test on a rig in virtual time.
func inTime(t *testing.T, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(openRig(t)) })
}

type pairOf = tls.Certificate

func envelope(id string, answer cloud.Enrolled) cloud.Envelope {
	raw, _ := json.Marshal(answer)
	return cloud.Envelope{ID: id, Data: raw}
}
