package agent

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/device"
	"roomgate/agent/goldentest"
	"roomgate/agent/mail/mailtest"
	"roomgate/agent/problem"
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
	goldentest.Values(t, "letter", goldentest.Pairs{"Encrypted": {letter.Encrypted, true}, "User": {letter.User, "gateway"},
		"To": {letter.To, "ada@example.com"}, "From": {letter.From, "rooms@example.com"},
		"a code in the subject": {regexp.MustCompile(`(?m)^Subject:.*[0-9]{6}`).MatchString(letter.Text), false}})
	r.wantRefused(t, "another's code", "mel@example.com", code)
	r.wantRefused(t, "a wrong code", "ada@example.com", other(code))
	token, user, err := r.Access.VerifyOTP(t.Context(), "Ada@Example.com", code[:3]+" "+code[3:], network, "")
	if err != nil || user.ID != "ada" || user.Email != "ada@example.com" || user.Name != "Ada" {
		t.Fatalf("%v, %v", user, err)
	}
	p, err := r.Access.AuthenticateToken(token)
	if err != nil {
		t.Fatalf("principal %+v, %v", p, err)
	}
	goldentest.Values(t, "principal", goldentest.Pairs{"ID": {p.ID, "ada"}, "Kind": {p.Kind, access.KindUser},
		"System": {p.System(), true}, "May(auth.All)": {p.May(auth.All), true}, "Valid(p)": {r.Valid(p), true}})
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
		if _, _, err := r.Access.VerifyOTP(t.Context(), "ada@example.com", code, network, ""); err != nil {
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
		err = r.Access.RequestOTP(t.Context(), email, network)
		after := r.db.Stats()
		if n := after.Commits - before.Commits; n != 1 {
			t.Errorf("%s: %d commits", email, n)
		}
		_ = r.db.View(func(tx *store.Tx) error {
			m, err := storedLetters.Get(tx, "code."+r.keys.Account(email+" "+network.String()))
			sealed = len(m.Sealed)
			return err
		})
		return after.BytesWritten - before.BytesWritten, sealed, err
	}
	for _, first := range []string{"zed", "zoe", "zac"} { // who make the tables, and pages of their own for them
		_, _, _ = cost(first + "@example.com")
	}
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
		a, b := r.Access.RequestOTP(t.Context(), "ada@example.com", network), r.Access.RequestOTP(t.Context(), "bob@example.com", network)
		if fmt.Sprint(a) != fmt.Sprint(b) || (a == nil) != (i < 4) {
			t.Errorf("request %d: %v for a user, %v for a stranger", i, a, b)
		}
	}
	for _, bad := range []string{"", "ada", "ada@example.com\r\nBcc: x@y.z"} {
		if e := device.AsError(r.Access.RequestOTP(t.Context(), bad, network)); e.Code != problem.Invalid || e.Field != "email" {
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

func TestSignInWithoutARelay(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	for _, email := range []string{"ada@example.com", "bob@example.com"} {
		if e := device.AsError(r.Access.RequestOTP(context.Background(), email, network)); e.Code != problem.Unavailable || !strings.Contains(e.Message, "smtp.url") {
			t.Errorf("%v", e)
		}
	}
	if e := device.AsError(mailAdmins(context.Background(), r.Agent, "", "x", "y")); e.Code != problem.NotFound {
		t.Errorf("%v", e)
	}
}

// TestFullDiskStartsWithoutSignIn has no room for the key that signs, nor for
// an organization: doors are worked all the same.
func TestFullDiskStartsWithoutSignIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		yaml := strings.Replace(planned, "spaces:", "store: {max_size: 8MiB}\nspaces:", 1)
		r := startRig(t, rigOptions{yaml: yaml, dir: dir, key: "some-system-key"})
		err := r.db.Update(t.Context(), access.EndTokens)
		if err != nil {
			t.Fatal(err)
		}
		for i, size := 0, 256<<10; size > 0; i++ { // no room even for a small table
			err := r.db.Update(t.Context(), func(tx *store.Tx) error {
				return store.NewTable[[]byte](fmt.Sprint("ballast", i)).Put(tx, "x", make([]byte, size))
			})
			if err != nil {
				size /= 2
			}
		}
		r.stop()
		r = startRig(t, rigOptions{yaml: yaml + people + "}\n", dir: dir})
		if p, ok := r.AuthenticateKey("some-system-key"); !ok || !p.System() {
			t.Errorf("the system key opens %+v, %v", p, ok)
		}
		if e := device.AsError(r.Access.RequestOTP(t.Context(), "ada@example.com", network)); e.Code != problem.Full {
			t.Errorf("a code on a full disk: %v", e)
		}
	})
}
