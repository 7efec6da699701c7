package cloudkey

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// Key is a public key whose signatures count, and for what.
type Key struct {
	ID        string    `json:"keyid"`               // cloud.KeyID of Public; without it, it is worked out
	Public    []byte    `json:"key"`                 // Ed25519, 32 bytes; without it, that of the key held by this id
	NotBefore time.Time `json:"not_before,omitzero"` // zero: valid at once
	NotAfter  time.Time `json:"not_after,omitzero"`  // zero: valid until it is revoked
	May       []string  `json:"may,omitempty"`       // cloud.LevelCommand, cloud.LevelConfig; empty: both
}

func (k Key) may(level string) bool {
	if len(k.May) == 0 {
		return level == cloud.LevelCommand || level == cloud.LevelConfig
	}
	return slices.Contains(k.May, level)
}

// complete fills in what the key leaves to be known, and refuses what is wrong.
func (k *Key) complete(held []Key) error {
	if len(k.Public) == 0 && k.ID != "" {
		i := slices.IndexFunc(held, func(h Key) bool { return h.ID == k.ID })
		if i < 0 {
			return problem.New(problem.NotFound, "keyid", "is not that of a key that this gateway holds: send the key with it")
		}
		if k.NotBefore.IsZero() && k.NotAfter.IsZero() && len(k.May) == 0 {
			*k = held[i]
			return nil
		}
		k.Public = held[i].Public
	}
	if len(k.Public) != ed25519.PublicKeySize {
		return problem.New(problem.Invalid, "key", "has %d bytes: want the %d of an Ed25519 public key, in base64", len(k.Public), ed25519.PublicKeySize)
	}
	id := cloud.KeyID(k.Public)
	if k.ID != "" && k.ID != id {
		return problem.New(problem.Invalid, "keyid", "is not that of the key: want %s", id)
	}
	k.ID = id
	for name, at := range map[string]time.Time{"not_before": k.NotBefore, "not_after": k.NotAfter} {
		if !at.IsZero() && !eventlog.Storable(at) {
			return problem.New(problem.Invalid, name, "is out of range: want a year from 1970 to 9999")
		}
	}
	if !k.NotAfter.IsZero() && !k.NotBefore.Before(k.NotAfter) {
		return problem.New(problem.Invalid, "not_after", "is not after not_before")
	}
	for i, level := range k.May {
		if level != cloud.LevelCommand && level != cloud.LevelConfig {
			return problem.New(problem.Invalid, "may", "has %.20q: want %s or %s", level, cloud.LevelCommand, cloud.LevelConfig)
		}
		if slices.Contains(k.May[:i], level) {
			return problem.New(problem.Invalid, "may", "names %s twice", level)
		}
	}
	return nil
}

// Stage makes want the keys that the gateway holds; who holds another turn waits.
// One of them has to be able to sign the next configuration, or no key could be
// revoked any more. The field of a refusal begins with the place in want, as
// [1].key. After a refusal nothing is to be released.
func (si *Signers) Stage(want []Key) (eventlog.Stage, error) {
	si.turn.Lock()
	next, err := si.check(want)
	if err != nil {
		si.turn.Unlock()
		return eventlog.Stage{}, err
	}
	return eventlog.Stage{
		Write:   func(tx *store.Tx) error { return keys.Put(tx, current, next) },
		Show:    func() { si.show(next) },
		Release: si.turn.Unlock,
	}, nil
}

// StageNone takes all keys away, for a gateway that is nobody's any more.
func (si *Signers) StageNone() eventlog.Stage {
	si.turn.Lock()
	return eventlog.Stage{Write: Forget, Show: func() { si.show(nil) }, Release: si.turn.Unlock}
}

func (si *Signers) show(next []Key) {
	si.keys.Store(&next)
	si.lost.Store(false)
	si.o.Log.Info("the keys of the cloud's door commands have changed", "keys", si.IDs())
}

func (si *Signers) check(want []Key) ([]Key, error) {
	if len(want) == 0 || len(want) > MostKeys {
		return nil, problem.New(problem.Invalid, "", "are %d: want 1 to %d keys", len(want), MostKeys)
	}
	next, held := slices.Clone(want), *si.keys.Load()
	for i := range next {
		if err := next[i].complete(held); err != nil {
			p := *problem.As(err)
			p.Field = fmt.Sprintf("[%d].%s", i, p.Field)
			return nil, &p
		}
		if slices.ContainsFunc(next[:i], func(k Key) bool { return k.ID == next[i].ID }) {
			return nil, problem.New(problem.Invalid, fmt.Sprintf("[%d].keyid", i), "is there twice")
		}
	}
	if !slices.ContainsFunc(next, func(k Key) bool { return k.may(cloud.LevelConfig) && k.NotAfter.IsZero() }) {
		return nil, problem.New(problem.Invalid, "", "need one config key without not_after, to sign the next keys")
	}
	return next, nil
}
