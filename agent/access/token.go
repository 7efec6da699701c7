package access

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/store"
)

const (
	// audience is whom tokens are for: the doors of a gateway.
	audience = "roomgate"
	// keyTokenLife is how long a token that a key bought is valid, and the
	// most that may be asked for.
	keyTokenLife, maxKeyTokenLife = 15 * time.Minute, time.Hour
	// maxSigningKeys bounds the keys that tokens may be signed with.
	maxSigningKeys = 4
	// rotationStep is how often is looked whether the signing key is too old.
	rotationStep = time.Hour
)

// AuthenticateToken says who comes with a token. Each time it answers what
// the user or the key may now.
func (d *Directory) AuthenticateToken(text string) (Principal, error) {
	t, _, err := d.signer.Load().Verify(text, d.moment())
	if err != nil {
		return Principal{}, tokenError(err)
	}
	p, ok := d.bearer(t)
	if !ok {
		return Principal{}, &EndedToken{problem.New(problem.Unauthorized, "Authorization", "is a token that was withdrawn: sign in again")}
	}
	p.token = &text
	return p, nil
}

// bearer is the one that a genuine token is of, if he may still come with it.
func (d *Directory) bearer(t auth.Token) (Principal, bool) {
	if t.Kind == KindUser {
		u := d.users.Load().byID[t.Subject]
		if u == nil || !u.Enabled || !auth.SameStamp(u.stamp, t.Stamp) {
			return Principal{}, false
		}
		return u.principal(), true
	}
	held := d.keyring.Load().byID[t.Subject]
	if held == nil || !d.good(held) {
		return Principal{}, false
	}
	held.touch()
	p := held.principal()
	p.Permissions &= t.Permissions
	p.Admin = p.Admin && t.Admin
	return p, p.Kind == t.Kind
}

// EndedToken refuses a token that this gateway has issued and that does not
// hold any more. Who sends it is no guesser.
type EndedToken struct{ Refusal *problem.Error }

// Error is the refusal.
func (e *EndedToken) Error() string { return e.Refusal.Error() }

// Unwrap is the refusal.
func (e *EndedToken) Unwrap() error { return e.Refusal }

func tokenError(err error) error {
	switch {
	case errors.Is(err, auth.ErrExpired):
		return &EndedToken{problem.New(problem.Unauthorized, "Authorization", "has expired: sign in again")}
	case errors.Is(err, auth.ErrTime):
		return &EndedToken{problem.New(problem.Unauthorized, "Authorization", "is from before the gateway restarted, and its clock cannot tell its age: sign in again")}
	}
	return problem.New(problem.Unauthorized, "Authorization", "is not a token of this gateway: sign in again")
}

// Token sells a key a short-lived token with its permissions, or with fewer if
// some are named. Zero life means 15 minutes; an hour is the most.
func (d *Directory) Token(p Principal, permissions []string, life time.Duration) (token string, expires time.Time, err error) {
	t := auth.Token{Permissions: p.Permissions, Admin: p.Admin}
	if len(permissions) > 0 {
		asked, err := auth.ParseSet(permissions)
		if err != nil {
			return "", expires, problem.New(problem.Invalid, "permissions", "%v", err)
		}
		if missing := asked &^ p.Permissions; missing != 0 {
			return "", expires, problem.New(problem.Forbidden, "permissions", "includes %s, which this key does not have: leave it out", strings.Join(missing.Names(), ", "))
		}
		t.Permissions, t.Admin = asked, false
	}
	switch {
	case p.token != nil || p.Kind != KindSystem && p.Kind != KindOrganization:
		return "", expires, problem.New(problem.Forbidden, "", "only an API key buys a token: send X-API-Key or X-Org-Api-Key")
	case life == 0:
		life = keyTokenLife
	case life < time.Second || life > maxKeyTokenLife:
		return "", expires, problem.New(problem.Invalid, "expires_in", "is out of range: want 1 to %d seconds", int(maxKeyTokenLife.Seconds()))
	}
	t.Subject, t.Name, t.Kind, t.Life = p.ID, p.Name, p.Kind, life.Truncate(time.Second)
	return d.sign(t)
}

// sign issues a token from now on.
func (d *Directory) sign(t auth.Token) (token string, expires time.Time, err error) {
	t.ID, t.Issued = strings.ToLower(rand.Text()), d.moment()
	token, err = d.signer.Load().Sign(t)
	return token, time.UnixMilli(t.Issued.Milli).Add(t.Life).UTC().Truncate(time.Second), err
}

// loadSigner reads the ids of the signing keys. The keys themselves are made
// of them and the device secret.
func (d *Directory) loadSigner(ctx context.Context) error {
	var ring []storedSigningKey
	err := d.db.View(func(tx *store.Tx) (err error) {
		ring, err = signingRows.Get(tx, signingRing)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if len(ring) > 0 {
		d.useRing(ring)
		return nil
	}
	ring = []storedSigningKey{d.newSigningKey()}
	if err = d.setRing(ctx, ring); errors.Is(err, store.ErrFull) {
		d.log.Error("the signing key cannot be stored, it is good until the next start: free space on the disk", "error", err)
		d.useRing(ring)
		return nil
	}
	return err
}

func (d *Directory) newSigningKey() storedSigningKey {
	return storedSigningKey{ID: strings.ToLower(rand.Text()[:10]), Since: d.moment()}
}

// setRing stores a ring and then lets it take effect.
func (d *Directory) setRing(ctx context.Context, ring []storedSigningKey) error {
	if err := d.db.Update(ctx, func(tx *store.Tx) error { return signingRows.Put(tx, signingRing, ring) }); err != nil {
		return fmt.Errorf("store the signing keys: %w", err)
	}
	d.useRing(ring)
	return nil
}

func (d *Directory) useRing(ring []storedSigningKey) {
	d.signing = ring
	ids := make([]string, len(ring))
	for i, k := range ring {
		ids[i] = k.ID
	}
	d.signer.Store(auth.NewSigner(d.options.Gateway, audience, d.keys, ids))
}

// RotateSigningKey signs with a new key from now on. Tokens signed before stay
// good until they expire, unless everybody is to be signed out.
func (d *Directory) RotateSigningKey(ctx context.Context, signOut bool) error {
	d.turn.Lock()
	defer d.turn.Unlock()
	ring := []storedSigningKey{d.newSigningKey()}
	if !signOut {
		ring = append(d.usefulKeys(), ring...)
	}
	if err := d.setRing(ctx, ring[max(len(ring)-maxSigningKeys, 0):]); err != nil {
		return err
	}
	if signOut {
		d.changed.Wake()
	}
	return nil
}

// usefulKeys are those by which a token that has not expired may be signed:
// the newest, and those that were followed less than a lifetime ago.
func (d *Directory) usefulKeys() (useful []storedSigningKey) {
	now, longest := d.moment(), max(d.options.Lifetime, maxKeyTokenLife)
	ring := d.signing
	for i, k := range ring {
		if i == len(ring)-1 {
			useful = append(useful, k)
		} else if followed, known := now.Since(ring[i+1].Since); !known || followed < longest {
			useful = append(useful, k)
		}
	}
	return useful
}

// rotate changes the signing key when it is too old, or when it has been made
// in a run whose clock nobody trusted and its age will never be known.
func (d *Directory) rotate(ctx context.Context) error {
	for {
		d.turn.Lock()
		newest := d.signing[len(d.signing)-1]
		d.turn.Unlock()
		now := d.moment()
		age, known := now.Since(newest.Since)
		if known && age >= d.options.Rotation || !known && now.Trusted {
			if err := d.RotateSigningKey(ctx, false); err != nil && ctx.Err() == nil {
				d.log.Error("the signing key cannot be changed, the old one goes on", "error", err)
			}
		}
		if loop.Sleep(ctx, rotationStep); ctx.Err() != nil {
			return nil
		}
	}
}
