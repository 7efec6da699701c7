package access

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/store"
)

const (
	// audience is the one that tokens name: the HTTP interface of a gateway.
	audience = "roomgate"
	// maxSigningKeys bounds the keys that tokens may be signed with.
	maxSigningKeys = 4
	// rotationStep is how often is looked whether the signing key is too old.
	rotationStep = time.Hour
)

// signing signs tokens with the newest of a few keys, and knows those that any
// of them has signed.
type signing struct {
	options Options
	signOut func() // is called when every token ended
	signer  atomic.Pointer[auth.Signer]
	turn    sync.Mutex         // of who changes the ring
	ring    []storedSigningKey // under turn
}

// verify reads a token that one of the keys has signed.
func (s *signing) verify(text string) (auth.Token, error) {
	t, _, err := s.signer.Load().Verify(text, s.options.MomentOfRun())
	if errors.Is(err, auth.ErrTime) { // it is of an earlier run
		t, _, err = s.signer.Load().Verify(text, s.options.Moment())
	}
	return t, err
}

// sign issues a token from now on.
func (s *signing) sign(t auth.Token) (token string, expires time.Time, err error) {
	t.ID, t.Issued = strings.ToLower(rand.Text()), s.options.Moment()
	token, err = s.signer.Load().Sign(t)
	return token, time.UnixMilli(t.Issued.Milli).Add(t.Life).UTC().Truncate(time.Second), err
}

// load reads the ids of the signing keys. The keys themselves are made
// of them and the device secret.
func (s *signing) load(ctx context.Context) error {
	var ring []storedSigningKey
	err := s.options.DB.View(func(tx *store.Tx) (err error) {
		ring, err = signingRows.Get(tx, signingRing)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if len(ring) > 0 {
		s.use(ring)
		return nil
	}
	ring = []storedSigningKey{s.newKey()}
	if err = s.set(ctx, ring); store.Unstored(err) {
		s.options.Log.Error("the signing key cannot be stored, it is good until the next start: free space on the disk", "error", err)
		s.use(ring)
		return nil
	}
	return err
}

func (s *signing) newKey() storedSigningKey {
	return storedSigningKey{ID: strings.ToLower(rand.Text()[:10]), Since: s.options.Moment()}
}

// set stores a ring and then lets it take effect.
func (s *signing) set(ctx context.Context, ring []storedSigningKey) error {
	if err := s.options.DB.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(signingRows.Put(tx, signingRing, ring), eventlog.Audit(ctx, tx, nil))
	}); err != nil {
		return fmt.Errorf("store the signing keys: %w", err)
	}
	s.use(ring)
	return nil
}

func (s *signing) use(ring []storedSigningKey) {
	s.ring = ring
	ids := make([]string, len(ring))
	for i, k := range ring {
		ids[i] = k.ID
	}
	s.signer.Store(auth.NewSigner(s.options.Gateway, audience, s.options.Keys, ids))
}

// rotate signs with a new key from now on. Tokens signed before stay
// good until they expire, unless signOut is set.
func (s *signing) rotate(ctx context.Context, signOut bool) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	ring := []storedSigningKey{s.newKey()}
	if !signOut {
		ring = append(s.useful(), ring...)
	}
	if err := s.set(ctx, ring[max(len(ring)-maxSigningKeys, 0):]); err != nil {
		return err
	}
	if signOut {
		s.signOut()
	}
	return nil
}

// useful are the keys that may have signed a token that has not expired:
// the newest, and those that were followed less than a lifetime ago.
func (s *signing) useful() (keys []storedSigningKey) {
	now, longest := s.options.Moment(), s.longest()
	ring := s.ring
	for i, k := range ring {
		if i == len(ring)-1 {
			keys = append(keys, k)
		} else if followed, known := now.Since(ring[i+1].Since); !known || followed < longest {
			keys = append(keys, k)
		}
	}
	return keys
}

// longest is how long a token is good at the most.
func (s *signing) longest() time.Duration {
	return max(s.options.Lifetime, maxKeyTokenLife, consoleLife)
}

// run changes the signing key when it is too old, or when it has been made
// in a run whose clock nobody trusted and its age will never be known.
func (s *signing) run(ctx context.Context) error {
	for {
		s.turn.Lock()
		newest := s.ring[len(s.ring)-1]
		s.turn.Unlock()
		now := s.options.Moment()
		age, known := now.Since(newest.Since)
		if known && age >= s.options.Rotation || !known && now.Trusted {
			if err := s.rotate(ctx, false); err != nil && ctx.Err() == nil {
				s.options.Log.Error("the signing key cannot be changed, keeping the old one", "error", err)
			}
		}
		if loop.Sleep(ctx, rotationStep); ctx.Err() != nil {
			return nil
		}
	}
}
