package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"roomgate/agent/auth"
	"roomgate/agent/mail/mailtest"
	"roomgate/store"
)

// TestSignInByMail goes over real sockets: a letter by STARTTLS to a real
// server, the code out of it, a token for it.
func TestSignInByMail(t *testing.T) {
	dir := t.TempDir()
	r := openRelayRig(t, dir, "always", mailtest.Options{Password: "hunter2"})
	r.run()
	r.request(t, " ADA@example.com ")
	code := r.code(t, 1)
	letter := r.relay.Letters()[0]
	if !letter.Encrypted || letter.User != "gateway" || letter.To != "ada@example.com" || letter.From != "rooms@example.com" ||
		regexp.MustCompile(`(?m)^Subject:.*[0-9]{6}`).MatchString(letter.Text) {
		t.Errorf("letter %+v", letter)
	}
	r.wantRefused(t, "another's code", "mel@example.com", code)
	r.wantRefused(t, "a wrong code", "ada@example.com", other(code))
	token, user, err := r.VerifyOTP(t.Context(), "Ada@Example.com", code[:3]+" "+code[3:], network)
	if err != nil || user.ID != "ada" || user.Email != "ada@example.com" || user.Name != "Ada" {
		t.Fatalf("%v, %v", user, err)
	}
	p, err := r.AuthenticateToken(token)
	if err != nil || p.ID != "ada" || p.Kind != KindUser || !p.System() || !p.May(auth.All) || !r.Valid(p) {
		t.Errorf("principal %+v, %v", p, err)
	}
	r.wantRefused(t, "the code again", "ada@example.com", code)
	r.request(t, "mel@example.com")
	second := r.code(t, 2)
	r.stop()

	onDisk, err := os.ReadFile(filepath.Join(dir, Database))
	if err != nil {
		t.Fatal(err)
	}
	secret, err := os.ReadFile(filepath.Join(dir, SecretFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, canary := range []string{second, "mel@example.com", "hunter2", token, string(secret)} {
		if bytes.Contains(onDisk, []byte(canary)) {
			t.Errorf("%q is in the database", canary)
		}
		if strings.Contains(r.log.String(), canary) {
			t.Errorf("%q is in the log", canary)
		}
	}
	if strings.Contains(fmt.Sprintf("%+v %#v", p, p), token) {
		t.Error("a principal shows the token")
	}
}

// TestLettersSurviveARestart is a relay that puts off the letter until the
// building has been restarted.
func TestLettersSurviveARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRelayRig(t, dir, "always", mailtest.Options{Pipe: true, Script: func(string, int) error {
			return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "greylisted, come back"}
		}})
		r.run()
		r.request(t, "ada@example.com")
		r.wait(2 * time.Minute)
		r.stop()
		if n := strings.Count(r.log.String(), "put off"); n < 2 || n > 5 || len(r.relay.Letters()) != 0 {
			t.Errorf("put off %d times: %s", n, r.log)
		}
		r = openRelayRig(t, dir, "always", mailtest.Options{Pipe: true, Script: func(_ string, before int) error {
			if before == 0 {
				return &smtp.SMTPError{Code: 450, EnhancedCode: smtp.EnhancedCode{4, 2, 0}, Message: "busy"}
			}
			return nil
		}})
		r.run()
		code := r.code(t, 1)
		if _, _, err := r.VerifyOTP(t.Context(), "ada@example.com", code, network); err != nil {
			t.Errorf("the code from before the restart: %v", err)
		}
		r.wait(2 * time.Hour)
		if n := len(r.relay.Letters()); n != 1 {
			t.Errorf("%d letters", n)
		}
	})
}

// TestStrangersCostTheSame compares what is answered, written and queued.
func TestStrangersCostTheSame(t *testing.T) {
	r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
	defer r.Close()
	cost := func(email string) (written int64, sealed int, err error) {
		before := r.db.Stats()
		err = r.RequestOTP(t.Context(), email, network)
		after := r.db.Stats()
		if n := after.Commits - before.Commits; n != 1 {
			t.Errorf("%s: %d commits", email, n)
		}
		_ = r.db.View(func(tx *store.Tx) error {
			m, err := mails.Get(tx, codePrefix+r.signIn.keys.Account(email))
			sealed = len(m.Sealed)
			return err
		})
		return after.BytesWritten - before.BytesWritten, sealed, err
	}
	_, _, _ = cost("zed@example.com") // the first one makes the tables
	wroteAda, sealedAda, err := cost("ada@example.com")
	for _, stranger := range []string{"bob@example.com", "off@example.com"} {
		wrote, sealed, e := cost(stranger)
		if wrote != wroteAda || sealed != sealedAda || err != nil || e != nil {
			t.Errorf("%s: %d and %d bytes, %v; a user: %d and %d bytes, %v", stranger, wrote, sealed, e, wroteAda, sealedAda, err)
		}
		before := r.db.Stats().Commits
		r.wantRefused(t, "a stranger", stranger, "123456")
		r.wantRefused(t, "a user", "ada@example.com", "123456")
		if n := r.db.Stats().Commits - before; n != 2 {
			t.Errorf("two wrong codes make %d commits", n)
		}
	}
	for i := range 5 {
		a, b := r.RequestOTP(t.Context(), "ada@example.com", network), r.RequestOTP(t.Context(), "bob@example.com", network)
		if fmt.Sprint(a) != fmt.Sprint(b) || (a == nil) != (i < 4) {
			t.Errorf("request %d: %v for a user, %v for a stranger", i, a, b)
		}
	}
	for _, bad := range []string{"", "ada", "ada@example.com\r\nBcc: x@y.z"} {
		if e := AsError(r.RequestOTP(t.Context(), bad, network)); e.Code != Invalid || e.Field != "email" {
			t.Errorf("%q: %v", bad, e)
		}
	}
}

// TestStrangersGetNoLetter lets the queue run.
func TestStrangersGetNoLetter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
		r.run()
		for _, email := range []string{"bob@example.com", "off@example.com", "ada@example.com"} {
			r.request(t, email)
		}
		r.wait(time.Minute)
		if all := r.relay.Letters(); len(all) != 1 || all[0].To != "ada@example.com" {
			t.Errorf("letters %+v", all)
		}
		wantNoLetters(t, r.rig)
	})
}

// TestGuessingIsHopeless counts the guesses that somebody gets who knows the
// address, may restart the building, and has many networks.
func TestGuessingIsHopeless(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		guesses, codes := 0, 0
		for restart := range 4 {
			r := openRelayRig(t, dir, []string{"always", "never"}[restart%2], mailtest.Options{Pipe: true})
			for i := range 20 {
				from := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(restart), byte(i)}), 32)
				if r.RequestOTP(t.Context(), "ada@example.com", from) == nil {
					codes++
				}
				for range 10 {
					before := r.tries(t, "ada@example.com")
					_, _, err := r.VerifyOTP(t.Context(), "ada@example.com", "000000", from)
					if err == nil {
						t.Fatal("one in a million")
					}
					if r.tries(t, "ada@example.com") != before {
						guesses++
					}
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			r.relay.Close()
		}
		if codes != auth.CodeRate.Burst || guesses > codes*auth.CodeTries {
			t.Errorf("%d codes, %d guesses", codes, guesses)
		}
	})
}

func TestNetworksAreLimited(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
		defer r.Close()
		for i := range 2 * perNetwork.Burst {
			asked := r.RequestOTP(t.Context(), fmt.Sprintf("u%d@example.com", i), network)
			_, _, tried := r.VerifyOTP(t.Context(), fmt.Sprintf("u%d@example.com", i), "123456", network)
			for what, err := range map[string]error{"asked": asked, "tried": tried} {
				if limited := err != nil && AsError(err).Code == TooMany; limited != (i >= perNetwork.Burst) {
					t.Errorf("%s %d times: %v", what, i+1, err)
				}
			}
			var slow *SlowDown
			if i >= perNetwork.Burst && (!errors.As(asked, &slow) || slow.After <= 0 || slow.After > perNetwork.Every+time.Second) {
				t.Errorf("after %v", slow)
			}
		}
		if err := r.RequestOTP(t.Context(), "ada@example.com", netip.MustParsePrefix("192.0.2.8/32")); err != nil {
			t.Errorf("another network: %v", err)
		}
		r.wait(perNetwork.Every)
		if err := r.RequestOTP(t.Context(), "ada@example.com", network); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}

// TestAccountsAreBounded tries more addresses than are remembered.
func TestAccountsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
		defer r.Close()
		fill := func(trusted bool) {
			now := r.moment()
			now.Trusted = trusted
			if !trusted {
				now.Boot = "before"
			}
			err := r.db.Update(t.Context(), func(tx *store.Tx) error {
				for i := range maxAccounts {
					c := auth.Account{}
					c.Issue([]byte("x"), now)
					if err := accounts.Put(tx, fmt.Sprint(i), c); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for email, trusted := range map[string]bool{"ada@example.com": true, "mel@example.com": false} {
			fill(trusted)
			for _, email := range []string{email, "bob@example.com"} {
				_, _, err := r.VerifyOTP(t.Context(), email, "123456", network)
				if AsError(err).Code != TooMany || AsError(r.RequestOTP(t.Context(), email, network)).Code != TooMany {
					t.Errorf("%s: %v", email, err)
				}
			}
			r.wait(auth.CodeRate.Every)
			r.request(t, email)
		}
	})
}

func TestCodesAfterARestartWithoutAClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRelayRig(t, dir, "never", mailtest.Options{Pipe: true})
		r.run()
		r.request(t, "ada@example.com")
		token, _, err := r.VerifyOTP(t.Context(), "ada@example.com", r.code(t, 1), network)
		if err != nil {
			t.Fatalf("a building without a clock: %v", err)
		}
		r.wait(11 * time.Hour)
		if _, err := r.AuthenticateToken(token); err != nil {
			t.Errorf("within its life: %v", err)
		}
		r.request(t, "ada@example.com")
		code := r.code(t, 2)
		r.stop()
		r.relay.Close()
		r = openRelayRig(t, dir, "never", mailtest.Options{Pipe: true})
		r.run()
		r.wantRefused(t, "a code of which nobody knows the age", "ada@example.com", code)
		if _, err := r.AuthenticateToken(token); AsError(err).Code != Unauthorized || !strings.Contains(err.Error(), "cannot tell its age") {
			t.Errorf("a token of which nobody knows the age: %v", err)
		}
		r.request(t, "ada@example.com")
		if _, _, err := r.VerifyOTP(t.Context(), "ada@example.com", r.code(t, 1), network); err != nil {
			t.Errorf("signing in again: %v", err)
		}
	})
}

func TestSignInWithoutARelay(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	for _, email := range []string{"ada@example.com", "bob@example.com"} {
		if e := AsError(r.RequestOTP(context.Background(), email, network)); e.Code != Unavailable || !strings.Contains(e.Message, "smtp.url") {
			t.Errorf("%v", e)
		}
	}
	if e := AsError(r.MailAdmins(context.Background(), "", "x", "y")); e.Code != NotFound {
		t.Errorf("%v", e)
	}
}

// TestOneOfManyGetsIn tries the right code many times at the same instant.
func TestOneOfManyGetsIn(t *testing.T) {
	r := openRelayRig(t, t.TempDir(), "always", mailtest.Options{Pipe: true})
	defer r.Close()
	code := auth.NewCode()
	err := r.db.Update(t.Context(), func(tx *store.Tx) error {
		var c auth.Account
		account := r.signIn.keys.Account("ada@example.com")
		c.Issue(r.signIn.keys.Hash(account, code), r.moment())
		return accounts.Put(tx, account, c)
	})
	if err != nil {
		t.Fatal(err)
	}
	var in atomic.Int32
	var all sync.WaitGroup
	for i := range 40 {
		from := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 32)
		all.Go(func() {
			if _, _, err := r.VerifyOTP(t.Context(), "ada@example.com", code, from); err == nil {
				in.Add(1)
			} else if AsError(err).Code != Unauthorized {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	if n := in.Load(); n != 1 {
		t.Errorf("%d got in by one code", n)
	}
}
