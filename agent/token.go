package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/loop"
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

// moment is now, as far as it can be known.
func (a *Agent) moment() auth.Moment {
	now := time.Now()
	return auth.Moment{Boot: a.Events.Boot(), Up: now.Sub(a.started), Milli: now.UnixMilli(), Trusted: a.clock.Trust() == Trusted}
}

// AuthenticateToken says who comes with a token. It answers anew each time
// what the user or the key may now.
func (a *Agent) AuthenticateToken(text string) (Principal, error) {
	t, _, err := a.signIn.signer.Load().Verify(text, a.moment())
	if err != nil {
		return Principal{}, tokenError(err)
	}
	p, ok := a.bearer(t)
	if !ok {
		return Principal{}, &EndedToken{refuse(Unauthorized, "Authorization", "is a token that was withdrawn: sign in again")}
	}
	p.token = &text
	return p, nil
}

// bearer is the one that a genuine token is of, if he may still come with it.
func (a *Agent) bearer(t auth.Token) (Principal, bool) {
	if t.Kind == KindUser {
		u := a.signIn.users.known.Load().byID[t.Subject]
		if u == nil || !u.Enabled || !auth.SameStamp(u.stamp, t.Stamp) {
			return Principal{}, false
		}
		return u.principal(), true
	}
	held := a.keys.ring.Load().byID[t.Subject]
	if held == nil || !a.good(held) {
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
type EndedToken struct{ Refusal *Error }

// Error is the refusal.
func (e *EndedToken) Error() string { return e.Refusal.Error() }

// Unwrap is the refusal.
func (e *EndedToken) Unwrap() error { return e.Refusal }

func tokenError(err error) error {
	switch {
	case errors.Is(err, auth.ErrExpired):
		return &EndedToken{refuse(Unauthorized, "Authorization", "has expired: sign in again")}
	case errors.Is(err, auth.ErrTime):
		return &EndedToken{refuse(Unauthorized, "Authorization", "is from before the gateway restarted, and its clock cannot tell its age: sign in again")}
	}
	return refuse(Unauthorized, "Authorization", "is not a token of this gateway: sign in again")
}

// Token sells a key a short-lived token with its permissions, or with fewer if
// some are named. Zero life means 15 minutes; an hour is the most.
func (a *Agent) Token(p Principal, permissions []string, life time.Duration) (token string, expires time.Time, err error) {
	t := auth.Token{Permissions: p.Permissions, Admin: p.Admin}
	if len(permissions) > 0 {
		asked, err := auth.ParseSet(permissions)
		if err != nil {
			return "", expires, refuse(Invalid, "permissions", "%v", err)
		}
		if missing := asked &^ p.Permissions; missing != 0 {
			return "", expires, refuse(Forbidden, "permissions", "has %s, which the key has not: leave it out", strings.Join(missing.Names(), ", "))
		}
		t.Permissions, t.Admin = asked, false
	}
	switch {
	case p.token != nil || p.Kind != KindSystem && p.Kind != KindOrganization:
		return "", expires, refuse(Forbidden, "", "only an API key buys a token: send X-API-Key or X-Org-Api-Key")
	case life == 0:
		life = keyTokenLife
	case life < time.Second || life > maxKeyTokenLife:
		return "", expires, refuse(Invalid, "expires_in", "is out of range: want 1 to %d seconds", int(maxKeyTokenLife.Seconds()))
	}
	t.Subject, t.Name, t.Kind, t.Life = p.ID, p.Name, p.Kind, life.Truncate(time.Second)
	return a.sign(t)
}

// sign issues a token from now on.
func (a *Agent) sign(t auth.Token) (token string, expires time.Time, err error) {
	t.ID, t.Issued = strings.ToLower(rand.Text()), a.moment()
	token, err = a.signIn.signer.Load().Sign(t)
	return token, time.UnixMilli(t.Issued.Milli).Add(t.Life).UTC().Truncate(time.Second), err
}

// loadSigner reads the ids of the signing keys. The keys themselves are made
// of them and the device secret.
func (a *Agent) loadSigner(ctx context.Context) error {
	var ring []storedSigningKey
	err := a.db.View(func(tx *store.Tx) (err error) {
		ring, err = signingKeys.Get(tx, signingRing)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if len(ring) > 0 {
		a.useRing(ring)
		return nil
	}
	ring = []storedSigningKey{a.newSigningKey()}
	if err = a.setRing(ctx, ring); errors.Is(err, store.ErrFull) {
		a.log.Error("the signing key cannot be stored, it is good until the next start: free space on the disk", "error", err)
		a.useRing(ring)
		return nil
	}
	return err
}

func (a *Agent) newSigningKey() storedSigningKey {
	return storedSigningKey{ID: strings.ToLower(rand.Text()[:10]), Since: a.moment()}
}

// setRing stores a ring and then lets it take effect.
func (a *Agent) setRing(ctx context.Context, ring []storedSigningKey) error {
	if err := a.db.Update(ctx, func(tx *store.Tx) error { return signingKeys.Put(tx, signingRing, ring) }); err != nil {
		return fmt.Errorf("store the signing keys: %w", err)
	}
	a.useRing(ring)
	return nil
}

func (a *Agent) useRing(ring []storedSigningKey) {
	a.signIn.ring = ring
	ids := make([]string, len(ring))
	for i, k := range ring {
		ids[i] = k.ID
	}
	a.signIn.signer.Store(auth.NewSigner(a.config.Gateway.ID, audience, a.signIn.keys, ids))
}

// RotateSigningKey signs with a new key from now on. Tokens signed before stay
// good until they expire, unless everybody is to be signed out.
func (a *Agent) RotateSigningKey(ctx context.Context, signOut bool) error {
	a.signIn.change.Lock()
	defer a.signIn.change.Unlock()
	ring := []storedSigningKey{a.newSigningKey()}
	if !signOut {
		ring = append(a.usefulKeys(), ring...)
	}
	if err := a.setRing(ctx, ring[max(len(ring)-maxSigningKeys, 0):]); err != nil {
		return err
	}
	if signOut {
		a.signIn.changed.Wake()
	}
	return nil
}

// usefulKeys are those by which a token that has not expired may be signed:
// the newest, and those that were followed less than a lifetime ago.
func (a *Agent) usefulKeys() (useful []storedSigningKey) {
	now, longest := a.moment(), max(a.config.Auth.JWT.Lifetime, maxKeyTokenLife)
	ring := a.signIn.ring
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
func (a *Agent) rotate(ctx context.Context) error {
	for {
		a.signIn.change.Lock()
		newest := a.signIn.ring[len(a.signIn.ring)-1]
		a.signIn.change.Unlock()
		now := a.moment()
		age, known := now.Since(newest.Since)
		if known && age >= a.config.Auth.JWT.Rotation || !known && now.Trusted {
			if err := a.RotateSigningKey(ctx, false); err != nil && ctx.Err() == nil {
				a.log.Error("the signing key cannot be changed, the old one goes on", "error", err)
			}
		}
		if loop.Sleep(ctx, rotationStep); ctx.Err() != nil {
			return nil
		}
	}
}
