package auth

import (
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// maxToken is the longest token that is looked at; ours have about 500 bytes.
const maxToken = 2048

// Errors of Verify.
var (
	// ErrToken is returned for a token that is not ours: broken, forged, signed
	// by another method or key, made for another gateway or audience.
	ErrToken = errors.New("token is not valid")
	// ErrExpired is returned for a token that was valid.
	ErrExpired = errors.New("token has expired")
	// ErrTime is returned for a token of an earlier run while the clock of
	// then or of now is not trusted: nobody can tell its age.
	ErrTime = errors.New("token is of a time that the clock cannot tell")
)

// Token is what a token says.
type Token struct {
	ID, Subject string
	Kind        string // of the subject
	Name        string // of the subject, to be shown
	Stamp       string // of the subject when it was issued; another one ends the token
	Permissions Set
	Admin       bool
	Issued      Moment
	Life        time.Duration // whole seconds
}

// claims are a token as RFC 7519 has them, with the moment that it was issued.
type claims struct {
	jwt.RegisteredClaims
	Kind        string   `json:"kind"`
	Name        string   `json:"name,omitempty"`
	Stamp       string   `json:"stamp,omitempty"`
	Permissions []string `json:"permissions"`
	Admin       bool     `json:"admin,omitempty"`
	Boot        string   `json:"boot"`
	Up          int64    `json:"up"` // ms
	Trusted     bool     `json:"timetrust"`
}

// Signer issues tokens and judges them. Its fields are not changed once it is
// used.
type Signer struct {
	Issuer, Audience string
	Keys             *Keys
	// Ring are the ids of the signing keys, the newest last.
	Ring []string

	byID     map[string][]byte
	parser   *jwt.Parser
	audience jwt.ClaimStrings
	seen     tokens
}

// NewSigner prepares a signer with at least one id in its ring.
func NewSigner(issuer, audience string, keys *Keys, ring []string) *Signer {
	s := &Signer{Issuer: issuer, Audience: audience, Keys: keys, Ring: ring, byID: map[string][]byte{},
		audience: jwt.ClaimStrings{audience},
		// The claims are judged below, by a time that is known.
		parser: jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation())}
	for _, id := range ring {
		s.byID[id] = derive(keys.secret, "token "+id)
	}
	return s
}

// Sign issues a token.
func (s *Signer) Sign(t Token) (string, error) {
	id := s.Ring[len(s.Ring)-1]
	issued := time.UnixMilli(t.Issued.Milli).Truncate(time.Second)
	j := jwt.NewWithClaims(jwt.SigningMethodHS256, &claims{
		RegisteredClaims: jwt.RegisteredClaims{ID: t.ID, Subject: t.Subject, Issuer: s.Issuer, Audience: s.audience,
			IssuedAt: jwt.NewNumericDate(issued), ExpiresAt: jwt.NewNumericDate(issued.Add(t.Life))},
		Kind: t.Kind, Name: t.Name, Stamp: t.Stamp, Permissions: t.Permissions.Names(), Admin: t.Admin,
		Boot: t.Issued.Boot, Up: t.Issued.Up.Milliseconds(), Trusted: t.Issued.Trusted})
	j.Header["kid"] = id
	return j.SignedString(s.byID[id])
}

// Verify judges a token and says how long it is still valid.
func (s *Signer) Verify(text string, now Moment) (t Token, left time.Duration, err error) {
	t, seen := s.seen.get(text)
	if !seen {
		if t, err = s.read(text); err != nil {
			return Token{}, 0, err
		}
		s.seen.put(text, t)
	}
	elapsed, known := now.Since(t.Issued)
	switch {
	case !known:
		return Token{}, 0, ErrTime
	case elapsed >= t.Life:
		return Token{}, 0, ErrExpired
	}
	return t, t.Life - elapsed, nil
}

// read judges everything about a token but its age.
func (s *Signer) read(text string) (t Token, err error) {
	var c claims
	if len(text) > maxToken {
		return t, ErrToken
	}
	if _, err := s.parser.ParseWithClaims(text, &c, s.key); err != nil || c.IssuedAt == nil {
		return t, ErrToken
	}
	// As of when it was issued, which no wall clock says.
	v := jwt.NewValidator(jwt.WithIssuer(s.Issuer), jwt.WithAudience(s.Audience), jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(func() time.Time { return c.IssuedAt.Time }))
	permissions, err := ParseSet(c.Permissions)
	if err != nil || v.Validate(&c) != nil {
		return t, ErrToken
	}
	issued := Moment{Boot: c.Boot, Up: time.Duration(c.Up) * time.Millisecond, Milli: c.IssuedAt.UnixMilli(), Trusted: c.Trusted}
	return Token{ID: c.ID, Subject: c.Subject, Kind: c.Kind, Name: c.Name, Stamp: c.Stamp, Permissions: permissions, Admin: c.Admin,
		Issued: issued, Life: c.ExpiresAt.Sub(c.IssuedAt.Time)}, nil
}

// key finds the key by which a token says that it is signed.
func (s *Signer) key(t *jwt.Token) (any, error) {
	id, _ := t.Header["kid"].(string)
	if key := s.byID[id]; key != nil {
		return key, nil
	}
	return nil, ErrToken
}
