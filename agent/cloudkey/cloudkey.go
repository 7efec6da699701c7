// Package cloudkey has the keys that the cloud signs its door commands and configurations
// with, and the counters of what they have signed.
//
// # Why
//
// Between the cloud and the building is a broker that neither of them is. It may
// keep a message, send it twice, or say something itself. So what lets somebody in
// is signed, and the signature covers the gateway (the topic), until when it is
// wanted, and a counter: then a broker can delay, and never open.
package cloudkey

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// The settings of what is not signed.
const (
	Auto   = ""       // Refuse while the gateway holds a key, else Allow
	Refuse = "refuse" // nothing that is not signed lets somebody in
	Allow  = "allow"
)

// MostKeys is how many keys a gateway holds.
const MostKeys = 4

// Options are what the keys stand on.
type Options struct {
	DB       *store.DB
	Clock    *clock.Clock
	Log      *slog.Logger
	Unsigned string // Auto, Refuse or Allow
}

// Signers are the keys whose signatures count. It may be used by many.
type Signers struct {
	o    Options
	turn sync.Mutex // of who changes the keys
	keys atomic.Pointer[[]Key]
	lost atomic.Bool
	held held
}

// keys holds the keys in one row, current.
var keys = store.NewTable[[]Key]("door-keys")

// current is the one row of keys.
const current = "current"

// Buckets names the tables in the store.
func Buckets() []string { return []string{keys.Bucket(), counters.Bucket()} }

// Forget removes the keys from a database that becomes another gateway's. Their
// counters stay: they do no harm.
func Forget(tx *store.Tx) error { return keys.Delete(tx, current) }

// Open reads the keys.
func Open(_ context.Context, o Options) (*Signers, error) {
	si := &Signers{o: o, held: held{byKey: map[string]counted{}}}
	si.keys.Store(new([]Key))
	return si, o.DB.View(func(tx *store.Tx) error {
		all, err := keys.Get(tx, current)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		si.keys.Store(&all)
		return err
	})
}

// IDs names the keys that the gateway holds.
func (si *Signers) IDs() []string {
	ids := []string{}
	for _, k := range *si.keys.Load() {
		ids = append(ids, k.ID)
	}
	return ids
}

// Expect says that the gateway had a key. If it holds none a repair of the database
// has lost them, and that must open no door.
func (si *Signers) Expect() {
	if len(*si.keys.Load()) == 0 && !si.lost.Swap(true) {
		si.o.Log.Error("the keys of the cloud's door commands are lost, so it can open no door: release the gateway with roomgate claim --release, and claim it again")
	}
}

// UnsignedAllowed says whether a door command of the cloud needs no signature.
func (si *Signers) UnsignedAllowed() bool {
	switch si.o.Unsigned {
	case Refuse:
		return false
	case Allow:
		return true
	}
	return len(*si.keys.Load()) == 0 && !si.lost.Load()
}

// Verify returns the id of the key that has signed a message of that level. It
// refuses what is not signed by a key that the gateway holds, that is valid now
// and may sign that level.
func (si *Signers) Verify(level string, s cloud.Signed) (keyID string, err error) {
	if s.Type != cloud.SignedType {
		return "", problem.New(problem.Invalid, "payloadType", "is not known: want %s", cloud.SignedType)
	}
	held := *si.keys.Load()
	i := slices.IndexFunc(held, func(k Key) bool { return k.ID == s.KeyID })
	if i < 0 {
		return "", problem.New(problem.Forbidden, "keyid", "is not that of a key that this gateway holds: sign with one of its own, or bring the key by a claim or by a signed configuration")
	}
	k := held[i]
	switch {
	case !s.Verify(ed25519.PublicKey(k.Public)):
		return "", problem.New(problem.Forbidden, "sig", "is no signature of the key %s over this payload", k.ID)
	case !k.may(level):
		return "", problem.New(problem.Forbidden, "keyid", "names a key that may not sign this: want one that may sign %s", level)
	}
	return k.ID, si.valid(k)
}

// valid refuses a key before and after its time.
func (si *Signers) valid(k Key) error {
	now, limited := time.Now(), !k.NotBefore.IsZero() || !k.NotAfter.IsZero()
	switch {
	case !limited:
		return nil
	case si.o.Clock.Trust() != clock.Trusted:
		return problem.New(problem.NotNow, "", "the clock of the gateway is not trusted, so it cannot tell whether the key %s is valid: send it again once the clock is set", k.ID)
	case now.Before(k.NotBefore):
		return problem.New(problem.Forbidden, "keyid", "names a key that is not valid yet: sign with an earlier one")
	case !k.NotAfter.IsZero() && !now.Before(k.NotAfter):
		return problem.New(problem.Forbidden, "keyid", "names a key that is not valid any more: sign with a later one")
	}
	return nil
}

// Judge refuses a command of the cloud that lets somebody in and does not carry
// what it needs for that. count is to be used together with the id of the
// command, before it has an effect. Nil: there is nothing to count.
func (si *Signers) Judge(e cloud.Envelope, c device.Command) (count *device.Count, err error) {
	opens := device.Unlocks(c.DeviceType, c.Action)
	switch {
	case e.SignedBy == "" && opens && !si.UnsignedAllowed():
		return nil, unsigned("", "a command that unlocks")
	case e.SignedBy == "":
		return nil, nil
	case e.Counter == 0:
		return nil, problem.New(problem.Invalid, "counter", "is missing: a signed command counts, from 1")
	case opens && c.ExpiresAt.IsZero():
		return nil, problem.New(problem.Invalid, "expires_at", "is missing: a signed command that unlocks says until when it is wanted")
	}
	return &device.Count{Key: e.SignedBy, N: e.Counter}, nil
}

// Part refuses a part of a configuration that may let somebody in and is not signed.
func (si *Signers) Part(e cloud.Envelope, part string) error {
	if part == "" || e.SignedBy != "" || si.UnsignedAllowed() {
		return nil
	}
	return unsigned(part, "a part that may let somebody in or has to be fetched")
}

// unsigned refuses what has to be signed and is not.
func unsigned(field, what string) error {
	return problem.New(problem.Forbidden, field, "is not signed: this gateway takes %s only with the signature of a key that it holds (doors.unsigned)", what)
}
