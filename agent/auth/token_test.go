package auth

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"pgregory.net/rapid"

	"roomgate/agent/goldentest"
)

func testSigner(t testing.TB) *Signer {
	return NewSigner("house", "roomgate", testKeys(t), []string{"k1", "k2"})
}

var sample = Token{ID: "j1", Subject: "ada", Kind: "user", Name: "Ada", Stamp: "3.abc", Permissions: DevicesRead | BookingsWrite, Issued: at(0), Life: 12 * time.Hour}

func mustSign(t testing.TB, s *Signer, token Token) string {
	t.Helper()
	text, err := s.Sign(token)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTokenComesBack(t *testing.T) {
	s := testSigner(t)
	text := mustSign(t, s, sample)
	got, left, err := s.Verify(text, at(time.Hour))
	if err != nil || got != sample || left != 11*time.Hour {
		t.Errorf("%+v, %v left, %v", got, left, err)
	}
	// What others expect of a token.
	var c jwt.MapClaims
	parsed, _, err := jwt.NewParser().ParseUnverified(text, &c)
	if err != nil {
		t.Fatalf("header %v, claims %v, %v", parsed.Header, c, err)
	}
	goldentest.Values(t, "header", goldentest.Pairs{"kid": {parsed.Header["kid"], "k2"}, "alg": {parsed.Header["alg"], "HS256"},
		"iss": {c["iss"], "house"}, "sub": {c["sub"], "ada"}, "iat": {c["iat"], float64(noon.Unix())},
		"exp": {c["exp"], float64(noon.Add(12 * time.Hour).Unix())}, "jti": {c["jti"], "j1"}})
}

// TestTimeOfTokens is the rule of a gateway whose clock may be wrong.
func TestTimeOfTokens(t *testing.T) {
	s := testSigner(t)
	trusted := sample
	unsure := sample
	unsure.Issued.Trusted, unsure.Issued.Milli = false, 0
	stepped := at(time.Hour) // the same run, after the clock was set
	stepped.Milli += (30 * 365 * day).Milliseconds()
	late := at(12 * time.Hour)
	late.Milli = 0
	late.Trusted = false
	for name, c := range map[string]struct {
		token Token
		now   Moment
		want  error
	}{
		"this run":                               {trusted, at(12*time.Hour - 1), nil},
		"this run, expired":                      {trusted, at(12 * time.Hour), ErrExpired},
		"this run, clock lost":                   {trusted, late, ErrExpired},
		"this run, clock never trusted":          {unsure, Moment{Boot: "one", Up: time.Hour}, nil},
		"this run, clock set meanwhile":          {unsure, stepped, nil},
		"restart, trusted":                       {trusted, after(time.Hour, true), nil},
		"restart, trusted, expired":              {trusted, after(12*time.Hour, true), ErrExpired},
		"restart, not trusted":                   {trusted, after(time.Hour, false), ErrTime},
		"restart, not trusted then":              {unsure, after(time.Hour, true), ErrTime},
		"restart, clock went back an hour":       {trusted, after(-time.Hour, true), ErrTime},
		"restart, clock went back a half second": {trusted, after(-time.Second/2, true), nil},
	} {
		if _, _, err := s.Verify(mustSign(t, s, c.token), c.now); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestForgedTokens(t *testing.T) {
	s := testSigner(t)
	good := mustSign(t, s, sample)
	parts := strings.Split(good, ".")
	encode := base64.RawURLEncoding.EncodeToString
	with := func(header, payload string) string { // signed with our newest key
		signed := encode([]byte(header)) + "." + encode([]byte(payload))
		sum, err := jwt.SigningMethodHS256.Sign(signed, s.byID["k2"])
		if err != nil {
			t.Fatal(err)
		}
		return signed + "." + encode(sum)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(parts[1])
	claim := func(name string, value any) string {
		var c map[string]any
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		c[name] = value
		if value == nil {
			delete(c, name)
		}
		text, _ := json.Marshal(c)
		return string(text)
	}
	const header = `{"alg":"HS256","kid":"k2","typ":"JWT"}`
	if _, _, err := s.Verify(with(header, string(raw)), at(0)); err != nil {
		t.Fatalf("the forger cannot even sign: %v", err)
	}
	other := NewSigner("house", "roomgate", testKeys(t), []string{"k3"})
	elsewhere := NewSigner("other-house", "roomgate", s.Keys, []string{"k2"})
	public := NewSigner("house", "elsewhere", s.Keys, []string{"k2"})
	for name, text := range map[string]string{
		"empty":             "",
		"dots":              "..",
		"alg none":          encode([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".",
		"alg None with kid": encode([]byte(`{"alg":"None","kid":"k2"}`)) + "." + parts[1] + ".",
		"alg none, signed":  with(`{"alg":"none","kid":"k2"}`, string(raw)),
		"alg HS512":         with(`{"alg":"HS512","kid":"k2"}`, string(raw)),
		"alg RS256":         with(`{"alg":"RS256","kid":"k2"}`, string(raw)),
		"no kid":            with(`{"alg":"HS256"}`, string(raw)),
		"kid of another":    mustSign(t, other, sample),
		"kid is a number":   with(`{"alg":"HS256","kid":2}`, string(raw)),
		"kid is a path":     with(`{"alg":"HS256","kid":"../../dev/null"}`, string(raw)),
		"signature cut":     good[:len(good)-1],
		"signature gone":    parts[0] + "." + parts[1] + ".",
		"claims changed":    parts[0] + "." + encode([]byte(claim("sub", "admin"))) + "." + parts[2],
		"header changed":    encode([]byte(header+" ")) + "." + parts[1] + "." + parts[2],
		"wrong issuer":      mustSign(t, elsewhere, sample),
		"wrong audience":    mustSign(t, public, sample),
		"no audience":       with(header, claim("aud", nil)),
		"no issuer":         with(header, claim("iss", nil)),
		"no expiry":         with(header, claim("exp", nil)),
		"no issue time":     with(header, claim("iat", nil)),
		"not yet":           with(header, claim("nbf", noon.Add(time.Hour).Unix())),
		"odd permission":    with(header, claim("permissions", []string{"doors:open"})),
		"claims are a list": with(header, "[]"),
		"huge":              good + strings.Repeat("A", maxToken),
		"five parts":        good + ".a.b",
		"padding":           good + "=",
		"spaces":            " " + good,
	} {
		if _, _, err := s.Verify(text, at(0)); !errors.Is(err, ErrToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeyRotation(t *testing.T) {
	keys := testKeys(t)
	old := mustSign(t, NewSigner("house", "roomgate", keys, []string{"k1"}), sample)
	if _, _, err := NewSigner("house", "roomgate", keys, []string{"k1", "k2"}).Verify(old, at(0)); err != nil {
		t.Errorf("a token of the key before: %v", err)
	}
	if _, _, err := NewSigner("house", "roomgate", keys, []string{"k2"}).Verify(old, at(0)); !errors.Is(err, ErrToken) {
		t.Errorf("a token of a key that is gone: %v", err)
	}
}

// TestOneChangedByte changes a token anywhere.
func TestOneChangedByte(t *testing.T) {
	s := testSigner(t)
	good := mustSign(t, s, sample)
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(good)
		i := rapid.IntRange(0, len(text)-1).Draw(t, "place")
		by := rapid.Byte().Draw(t, "by")
		if text[i] == by {
			return
		}
		text[i] = by
		if _, _, err := s.Verify(string(text), at(0)); err == nil {
			t.Errorf("taken: %q", text)
		}
	})
}

func FuzzVerify(f *testing.F) {
	s := testSigner(f)
	good := mustSign(f, s, sample)
	f.Add(good)
	f.Add(strings.Replace(good, ".", "..", 1))
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, text string) {
		if got, left, err := s.Verify(text, at(0)); err == nil && (text != good || got != sample || left <= 0) {
			t.Errorf("taken: %q", text)
		}
	})
}

func TestSets(t *testing.T) {
	all, err := ParseSet(All.Names())
	if err != nil || all != All || len(All.Names()) != 2*len(Resources()) {
		t.Errorf("all: %v, %v", all.Names(), err)
	}
	s, err := ParseSet([]string{"bookings:write", "devices:read", "devices:read"})
	if err != nil || s != BookingsWrite|DevicesRead || !slices.Equal(s.Names(), []string{"devices:read", "bookings:write"}) {
		t.Errorf("%v, %v", s.Names(), err)
	}
	for _, bad := range []string{"", "devices", "devices:", "devices:read ", "Devices:read", "*", strings.Repeat("x", 100)} {
		if _, err := ParseSet([]string{"devices:read", bad}); err == nil || len(err.Error()) > 250 {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if s.Has(DevicesWrite) || !s.Has(DevicesRead) || s.Has(DevicesRead|DevicesWrite) || !s.Has(0) {
		t.Error("a set has what it has not")
	}
	for _, want := range []Set{0, s, All} {
		raw, err := json.Marshal(want)
		var got Set
		if e := json.Unmarshal(raw, &got); err != nil || e != nil || got != want {
			t.Errorf("%v: %s, %v, %v", want.Names(), raw, err, e)
		}
	}
	var newer Set
	if err := json.Unmarshal([]byte(`["devices:read","lifts:read"]`), &newer); err != nil || newer != DevicesRead {
		t.Errorf("a name of a newer version: %v, %v", newer.Names(), err)
	}
	if RoleAdmin.Permissions() != All || RoleMember.Permissions().Has(DevicesWrite) || !RoleOperator.Permissions().Has(DevicesWrite) || Role("boss").Permissions() != 0 {
		t.Error("a role has other permissions than it should")
	}
	for _, r := range Roles() {
		if Role(r).Permissions() == 0 {
			t.Errorf("role %s may nothing", r)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	s := testSigner(b)
	text, now := mustSign(b, s, sample), at(time.Hour)
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := s.Verify(text, now); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.read(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestRememberedTokensAreBounded(t *testing.T) {
	s := testSigner(t)
	for i := range 2 * maxTokens {
		token := sample
		token.ID = fmt.Sprint(i)
		text := mustSign(t, s, token)
		for range 2 {
			if got, _, err := s.Verify(text, at(0)); err != nil || got != token {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		if _, _, err := s.Verify(text, at(12*time.Hour)); !errors.Is(err, ErrExpired) {
			t.Fatalf("remembered and expired: %v", err)
		}
	}
	if n := len(s.seen.read); n > maxTokens {
		t.Errorf("%d are remembered", n)
	}
}
