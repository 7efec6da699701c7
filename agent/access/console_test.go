package access

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/problem"
)

// TestConsoleCode: a code is good once, for ten minutes, and lets an admin in for eight
// hours; in a demo any number of times.
func TestConsoleCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.Close()
		code, life, _ := r.Console.New(t.Context())
		if life != 10*time.Minute {
			t.Errorf("it is good for %v", life)
		}
		token, expires, err := r.Console.SignIn(t.Context(), code, network)
		if err != nil || time.Until(expires) > 8*time.Hour || time.Until(expires) < 8*time.Hour-2*time.Second {
			t.Fatalf("%v until %v", err, expires)
		}
		if _, _, err := r.Console.SignIn(t.Context(), code, network); problem.As(err) == nil || problem.As(err).Code != problem.Forbidden {
			t.Errorf("used twice: %v", err)
		}
		p, err := r.AuthenticateToken(token)
		if err != nil || !p.System() || p.Kind != KindConsole || !r.Valid(p) {
			t.Errorf("it is %+v, %v", p, err)
		}
		if _, _, err := r.Token(p, nil, 0); err == nil {
			t.Error("a session buys a token that is good for longer")
		}
		time.Sleep(8*time.Hour + time.Second)
		var ended *EndedToken
		if _, err := r.AuthenticateToken(token); !errors.As(err, &ended) || r.Valid(p) {
			t.Errorf("after eight hours: %v", err)
		}

		old, _, _ := r.Console.New(t.Context())
		late, _, _ := r.Console.New(t.Context())
		if _, _, err := r.Console.SignIn(t.Context(), old, network); err == nil {
			t.Error("the one before is good too")
		}
		time.Sleep(10 * time.Minute)
		if _, _, err := r.Console.SignIn(t.Context(), late, network); err == nil {
			t.Error("after ten minutes it is good")
		}
		lasting := r.Console.Lasting()
		for range 7 {
			if _, _, err := r.Console.SignIn(t.Context(), lasting, network); err != nil {
				t.Errorf("one that lasts: %v", err)
			}
		}
	})
}

// TestConsoleGuessing: five tries from a network, which keep nobody out who has the right code.
func TestConsoleGuessing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.Close()
		code, _, _ := r.Console.New(t.Context())
		for range consoleCodeTries {
			if _, _, err := r.Console.SignIn(t.Context(), "AAAA-AAAA", network); problem.As(err).Code != problem.Forbidden {
				t.Errorf("a wrong code: %v", err)
			}
		}
		if _, _, err := r.Console.SignIn(t.Context(), "AAAA-AAAA", network); problem.As(err) == nil || problem.As(err).Code != problem.TooMany {
			t.Errorf("the sixth try: %v", err)
		}
		if _, _, err := r.Console.SignIn(t.Context(), code, network); err != nil {
			t.Errorf("a neighbour with the right code: %v", err)
		}
	})
}

// TestConsoleSessionEnds: who signs everybody out ends the sessions of the console too.
func TestConsoleSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.Close()
		code, _, _ := r.Console.New(t.Context())
		token, _, err := r.Console.SignIn(t.Context(), code, network)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.SignOutAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.AuthenticateToken(token); err == nil {
			t.Error("the session goes on")
		}
	})
}

// TestOneSessionEnds: who signs out ends the session that he came with, also over a restart,
// and no other one. A key, and what it has bought, has none. Once the ended ones have
// expired, or everybody was signed out, nothing is kept of them.
func TestOneSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, rigOptions{dir: dir, key: "a-system-key-of-this-test"})
		lasting := r.Console.Lasting()
		session := func() string {
			token, _, err := r.Console.SignIn(t.Context(), lasting, network)
			if err != nil {
				t.Fatal(err)
			}
			return token
		}
		r.request(t, "ada@example.com")
		user, _, err := r.VerifyOTP(t.Context(), "ada@example.com", r.code("ada@example.com"), network, "")
		if err != nil {
			t.Fatal(err)
		}
		gone, stays := []string{session(), user}, session()
		for _, token := range gone {
			p, err := r.AuthenticateToken(token)
			changed := r.Changed()
			if err = errors.Join(err, r.SignOutSession(t.Context(), p)); err != nil {
				t.Fatal(err)
			}
			select {
			case <-changed:
			default:
				t.Error("streams are not told")
			}
			if r.Valid(p) {
				t.Error("a stream goes on")
			}
		}
		key, _ := r.AuthenticateKey("a-system-key-of-this-test")
		bought, _, err := r.Token(key, nil, 0)
		p, e := r.AuthenticateToken(bought)
		if err != nil || e != nil {
			t.Fatal(err, e)
		}
		for _, who := range []Principal{key, p} {
			if err := r.SignOutSession(t.Context(), who); problem.As(err) == nil || problem.As(err).Code != problem.NotNow {
				t.Errorf("%s signs out: %v", who.Name, err)
			}
		}
		check := func(when string) {
			t.Helper()
			var ended *EndedToken
			for _, token := range gone {
				if _, err := r.AuthenticateToken(token); !errors.As(err, &ended) {
					t.Errorf("%s: it goes on: %v", when, err)
				}
			}
			if _, err := r.AuthenticateToken(stays); err != nil {
				t.Errorf("%s: another one has ended: %v", when, err)
			}
		}
		check("at once")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = openRig(t, rigOptions{dir: dir, key: "a-system-key-of-this-test"})
		defer r.Close()
		lasting = r.Console.Lasting()
		check("after a restart")
		time.Sleep(13 * time.Hour)
		p, _ = r.AuthenticateToken(session())
		if err := r.SignOutSession(t.Context(), p); err != nil || len(r.ended.at) != 1 {
			t.Errorf("%d are kept, %v", len(r.ended.at), err)
		}
		if err := r.SignOutAll(t.Context()); err != nil || len(r.ended.at) != 0 {
			t.Errorf("%d are kept, %v", len(r.ended.at), err)
		}
	})
}
