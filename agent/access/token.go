package access

import (
	"errors"
	"strings"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/problem"
)

const (
	// keyTokenLife is how long a token that a key bought is valid, and the
	// most that may be asked for.
	keyTokenLife, maxKeyTokenLife = 15 * time.Minute, time.Hour
)

// AuthenticateToken says who comes with a token. Each time it answers what
// the user or the key may now.
func (d *Directory) AuthenticateToken(text string) (Principal, error) {
	t, err := d.signing.verify(text)
	if err != nil {
		return Principal{}, tokenError(err)
	}
	p, ok := bearer(d, t)
	if !ok {
		return Principal{}, &EndedToken{problem.New(problem.Unauthorized, "Authorization", "is a token that was withdrawn: sign in again")}
	}
	p.token = &text
	return p, nil
}

// bearer is the principal of a genuine token; false if the token was revoked or
// its session ended, or its user is disabled or removed.
func bearer(d *Directory, t auth.Token) (Principal, bool) {
	if d.ended.has(t.ID) {
		return Principal{}, false
	}
	if t.Kind == KindUser {
		u := d.users.Load().byID[t.Subject]
		if u == nil || !u.Enabled || !auth.SameStamp(u.stamp, t.Stamp) {
			return Principal{}, false
		}
		return u.principal(), true
	}
	if t.Kind == KindConsole {
		return consolePrincipal(t), true
	}
	held := d.keyring.held().byID[t.Subject]
	if held == nil || !d.keyring.good(held) {
		return Principal{}, false
	}
	held.touch()
	p := held.principal()
	p.Permissions &= t.Permissions
	p.Admin = p.Admin && t.Admin
	return p, p.Kind == t.Kind
}

// EndedToken refuses a token of this gateway that is no longer valid. It does not
// count as an attempt to guess.
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
		return "", expires, problem.New(problem.Forbidden, "", "only an API key gets a token: send X-API-Key or X-Org-Api-Key")
	case life == 0:
		life = keyTokenLife
	case life < time.Second || life > maxKeyTokenLife:
		return "", expires, problem.New(problem.Invalid, "expires_in", "is out of range: want 1 to %d seconds", int(maxKeyTokenLife.Seconds()))
	}
	t.Subject, t.Name, t.Kind, t.Life = p.ID, p.Name, p.Kind, life.Truncate(time.Second)
	return d.signing.sign(t)
}
