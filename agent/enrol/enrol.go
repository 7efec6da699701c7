// Package enrol gets the gateway's certificate for its cloud's broker, renews it before it
// ends, and lets the one before go only once the new one was let in.
//
// # Why
//
// The key is made here and never leaves. The claim has brought a secret that only the
// gateway and its cloud have: requests and answers are sealed with it, so that nobody at
// the broker can ask for a certificate of this gateway, or place another one. Each step is
// stored before it counts, so that a power cut repeats a step and loses none.
package enrol

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/cloudlink"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/cloud"
	"roomgate/store"
)

// Options are what an enrolment stands on, and what it asks the building.
type Options struct {
	DB      *store.DB
	Events  *eventlog.Log
	Clock   *clock.Clock
	Keys    *auth.Keys // of this hardware: who copies the card has others
	Log     *slog.Logger
	Gateway string // id
	URL     string // of the brokers that want the certificate
	First   string // of the broker for a gateway without one; empty: the same
	// Secret is that of the claim; nil: there is none, and no certificate.
	Secret func() []byte
	// Claimed returns a channel that is closed when the claim is another.
	Claimed func() <-chan struct{}
	// Send sends the data of up/enrol, and says whether the broker has it.
	Send func(ctx context.Context, data any) bool
	// Try logs in once at a broker with that certificate. asked says whether the broker
	// wanted to see one.
	Try func(ctx context.Context, url string, pair *tls.Certificate) (t cloud.Trouble, asked bool)
	// Renew logs in again; it must not wait.
	Renew    func()
	Receipts cloudlink.Receipts // answer a message that brings a certificate
}

// table holds the enrolment in one row, current.
var table = store.NewTable[sealed]("cloud-certificate")

// current is the one row of table, and the place of what is sealed in it.
const current = "cloud-certificate"

// Buckets names the table in the store.
func Buckets() []string { return []string{table.Bucket()} }

// Forget ends the enrolment in a database that becomes another gateway's.
func Forget(tx *store.Tx) error { return table.Delete(tx, current) }

// sealed is the row: stored, encrypted under the device secret.
type sealed struct {
	Sealed []byte `json:"sealed"`
}

// stored is how far the gateway has come.
type stored struct {
	Claim []byte `json:"claim"`          // SHA-256 of the secret that all of this is of
	Now   pair   `json:"now,omitzero"`   // which was let in, and is shown
	Next  pair   `json:"next,omitzero"`  // which was asked for; with a chain it waits to be let in
	Code  string `json:"code,omitempty"` // why the cloud gives none, with Reason
	Why   string `json:"why,omitempty"`  // the same in words
	// Refused is why a broker did not take the last new one.
	Refused string `json:"refused,omitempty"`
}

// pair is a key and what was made of it.
type pair struct {
	Key     []byte   `json:"key,omitempty"`     // PKCS#8
	Request []byte   `json:"request,omitempty"` // PKCS#10
	Chain   [][]byte `json:"chain,omitempty"`
}

// certificate is the pair for TLS; nil: there is none.
func (p pair) certificate() *tls.Certificate {
	if len(p.Chain) == 0 {
		return nil
	}
	key, err := x509.ParsePKCS8PrivateKey(p.Key)
	leaf, wrong := x509.ParseCertificate(p.Chain[0])
	own, ok := key.(*ecdsa.PrivateKey)
	if err != nil || wrong != nil || !ok || !own.PublicKey.Equal(leaf.PublicKey) {
		return nil
	}
	return &tls.Certificate{Certificate: p.Chain, PrivateKey: own, Leaf: leaf}
}

// Enrolment is the gateway's certificate, and the way to it. It may be used by many.
type Enrolment struct {
	o    Options
	turn sync.Mutex  // of who changes what is stored
	wake loop.Signal // something has come that Run waits for

	mu      sync.Mutex // of what follows, never held for long
	s       stored
	now     *tls.Certificate // s.Now
	broken  string           // why the broker does not take now; empty: it does
	flip    bool             // while broken, each other connection goes the other way
	told    string           // the state that was last told by an event
	tries   int              // how often was asked or tried in a row
	resting time.Time        // until then nothing is asked or tried; by the monotonic clock
	unsent  bool             // the last request found no connection
	handled time.Time        // when the refusal was met that At has heard last
}

// Open reads how far the gateway has come. What was sealed under another device secret is
// another machine's: a copied card has no certificate.
func Open(_ context.Context, o Options) (*Enrolment, error) {
	e := &Enrolment{o: o, wake: loop.NewSignal()}
	return e, o.DB.View(func(tx *store.Tx) error {
		row, err := table.Get(tx, current)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		raw, err := o.Keys.Open(current, row.Sealed)
		if err == nil {
			err = json.Unmarshal(raw, &e.s)
		}
		if err != nil {
			o.Log.Warn("the stored certificate for the cloud belongs to other hardware: the gateway gets another one with its next claim")
			e.s = stored{}
		}
		e.now = e.s.Now.certificate()
		return nil
	})
}

// snapshot is how far the gateway has come.
func (e *Enrolment) snapshot() stored {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.s
}

// secret is that of the claim, if what is stored is of the same.
func (e *Enrolment) secret(s stored) (secret []byte, same bool) {
	secret = e.o.Secret()
	if secret == nil {
		return nil, len(s.Claim) == 0
	}
	sum := sha256.Sum256(secret)
	return secret, bytes.Equal(sum[:], s.Claim)
}

// put stores how far the gateway has come, with what belongs to it. The caller has the turn.
func (e *Enrolment) put(ctx context.Context, s stored, also ...func(tx *store.Tx) error) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	write := func(tx *store.Tx) error {
		if err := table.Put(tx, current, sealed{e.o.Keys.Seal(current, raw)}); err != nil {
			return err
		}
		for _, do := range also {
			if err := do(tx); err != nil {
				return err
			}
		}
		return nil
	}
	show := func() {
		e.mu.Lock()
		e.s, e.now = s, s.Now.certificate()
		e.mu.Unlock()
	}
	return e.o.Events.Commit(ctx, eventlog.Stage{Write: write, Show: show})
}

// trusted says what time it is, and whether that is to be believed.
func (e *Enrolment) trusted() (time.Time, bool) {
	return e.o.Clock.Now(), e.o.Clock.Trust() == clock.Trusted
}

// Up says that there is a connection.
func (e *Enrolment) Up() {
	e.mu.Lock()
	if e.unsent {
		e.resting, e.unsent = time.Time{}, false
	}
	e.mu.Unlock()
	e.wake.Wake()
}

var _ cloudlink.Identity = (*Enrolment)(nil)
