package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/config"
	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
	"roomgate/store"
)

// token lets a user in without a letter.
func (r *rig) token(t testing.TB, id string) string {
	t.Helper()
	u := r.users.Load().byID[id]
	token, _, err := r.signing.sign(auth.Token{Kind: KindUser, Subject: u.ID, Stamp: u.stamp, Life: r.options.Lifetime})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (r *rig) wantToken(t *testing.T, why, token string, good bool) {
	t.Helper()
	if _, err := r.AuthenticateToken(token); (err == nil) != good || err != nil && problem.As(err).Code != problem.Unauthorized {
		t.Errorf("%s: %v, want good %v", why, err, good)
	}
}

func TestUsersLoseAccessAtOnce(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, rigOptions{dir: dir})
	token := r.token(t, "mel")
	p, err := r.AuthenticateToken(token)
	if err != nil {
		t.Fatalf("principal %+v, %v", p, err)
	}
	goldentest.Values(t, "principal", goldentest.Pairs{"OrganizationID": {p.OrganizationID, org}, "Admin": {p.Admin, false},
		"May(auth.DevicesWrite)": {p.May(auth.DevicesWrite), false}, "May(auth.BookingsWrite)": {p.May(auth.BookingsWrite), true},
		"Sees(org)": {p.Sees(org), true}, "Sees(otherOrg)": {p.Sees(otherOrg), false}, `Sees("")`: {p.Sees(""), false}})
	for name, end := range map[string]func() error{
		"signed out": func() error { return r.SignOut(t.Context(), "mel") },
		"disabled":   func() error { return r.EnableUser(t.Context(), "mel", false) },
	} {
		token := r.token(t, "mel")
		p, _ := r.AuthenticateToken(token)
		changed := r.Changed()
		r.wantToken(t, name+" not yet", token, true)
		if err := end(); err != nil {
			t.Fatal(err)
		}
		r.wantToken(t, name, token, false)
		if r.Valid(p) {
			t.Errorf("%s: an open stream goes on", name)
		}
		select {
		case <-changed:
		default:
			t.Errorf("%s: nobody is told", name)
		}
		if err := r.EnableUser(t.Context(), "mel", true); err != nil {
			t.Fatal(err)
		}
		r.wantToken(t, name+" and enabled again", token, false)
		r.wantToken(t, "a new one", r.token(t, "mel"), true)
	}
	token = r.token(t, "mel")
	people, marks := people, r.users.Load().marks
	demoted := slices.Clone(people)
	demoted[1].Role, demoted[1].OrganizationID = "admin", otherOrg
	p, _ = r.AuthenticateToken(token)
	if r.setUsers(demoted, marks); r.Valid(p) {
		t.Error("who moved to another organization goes on")
	}
	if now, err := r.AuthenticateToken(token); err != nil || !now.Admin || now.System() || now.OrganizationID != otherOrg {
		t.Errorf("the new role does not count at once: %+v, %v", now, err)
	}
	display := slices.Clone(people)
	display[1].Role = "display"
	r.setUsers(people, marks)
	p, _ = r.AuthenticateToken(token)
	if r.setUsers(display, marks); r.Valid(p) {
		t.Error("a stream goes on with the eyes of a role that its reader has no more")
	}
	renamed := slices.Clone(people)
	renamed[1].Email = "eve@example.com"
	for name, list := range map[string][]config.Person{"removed": people[:1], "the id given to another": renamed} {
		r.setUsers(people, marks)
		r.wantToken(t, "before "+name, token, true)
		r.setUsers(list, marks)
		r.wantToken(t, name, token, false)
	}
	r.setUsers(people, marks)
	if err := r.EnableUser(t.Context(), "mel", false); err != nil {
		t.Fatal(err)
	}
	if e := problem.As(r.EnableUser(t.Context(), "off", true)); e.Code != problem.NotNow {
		t.Errorf("enabled against the configuration: %v", e)
	}
	if e := problem.As(r.SignOut(t.Context(), "nobody")); e.Code != problem.NotFound {
		t.Errorf("nobody signed out: %v", e)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = openRig(t, rigOptions{dir: dir})
	defer r.Close()
	if all := r.Users(); len(all) != 3 || all[1].ID != "mel" || all[1].Enabled || !all[0].Enabled {
		t.Errorf("after a restart %+v", all)
	}
	r.wantToken(t, "after a restart", token, false)
	r.wantToken(t, "another's after a restart", r.token(t, "ada"), true)
}

func TestSigningKeysRotate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.Close()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go r.Run(ctx) // months, of which the devices need not know
		r.wait(719*time.Hour + 59*time.Minute)
		before, ring := r.token(t, "ada"), len(r.signing.signer.Load().Ring)
		r.wait(2 * time.Hour)
		if got := r.signing.signer.Load().Ring; ring != 1 || len(got) != 2 {
			t.Errorf("keys %v after %d", got, ring)
		}
		r.wantToken(t, "signed by the key before", before, true)
		r.wait(11 * time.Hour)
		r.wantToken(t, "expired", before, false)
		r.wait(719 * time.Hour)
		if got := r.signing.signer.Load().Ring; len(got) != 2 {
			t.Errorf("keys %v, want those of this month and the last", got)
		}
		token := r.token(t, "ada")
		for range 10 {
			if err := r.signing.rotate(t.Context(), false); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.signing.signer.Load().Ring; len(got) != maxSigningKeys {
			t.Errorf("%d keys", len(got))
		}
		r.wantToken(t, "by a key that was pushed out", token, false)
		token = r.token(t, "ada")
		p, _ := r.AuthenticateToken(token)
		if err := r.SignOutAll(t.Context()); err != nil || r.Valid(p) {
			t.Errorf("everybody is signed out, but one is not: %v", err)
		}
		r.wantToken(t, "signed out", token, false)
	})
}

func TestTokensSurviveARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, rigOptions{dir: dir})
		token := r.token(t, "ada")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = openRig(t, rigOptions{dir: dir})
		defer r.Close()
		r.wait(11*time.Hour + 59*time.Minute)
		r.wantToken(t, "after a restart", token, true)
		r.wait(time.Minute)
		r.wantToken(t, "after a restart, expired", token, false)
	})
}

func BenchmarkAuthenticate(b *testing.B) {
	r := openRig(b, rigOptions{})
	defer r.Close()
	_, secret, err := r.CreateOrgKey(b.Context(), org, "app", []string{"bookings:read"}, time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	token := r.token(b, "mel")
	b.Run("key", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := r.AuthenticateKey(secret); !ok {
				b.Fatal("refused")
			}
		}
	})
	b.Run("token", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.AuthenticateToken(token); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("wrong-token", func(b *testing.B) {
		wrong := token[:len(token)-2] + "xx"
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.AuthenticateToken(wrong); err == nil {
				b.Fatal("let in")
			}
		}
	})
}

// BenchmarkRequestOTP asks for users and strangers in turns; of-user is how
// long a stranger takes beside a user.
func BenchmarkRequestOTP(b *testing.B) {
	r := openRig(b, rigOptions{})
	defer r.Close()
	r.asked.Burst = 1 << 20 // more than the benchmark asks
	var took [2]time.Duration
	for b.Loop() {
		for i, email := range []string{"ada@example.com", "bob@example.com"} {
			began := time.Now()
			if err := r.RequestOTP(b.Context(), email, network); err != nil {
				b.Fatal(err)
			}
			took[i] += time.Since(began)
			b.StopTimer()
			err := r.db.Update(b.Context(), func(tx *store.Tx) error {
				p := r.pair(email, network)
				return errors.Join(accounts.Delete(tx, p.id), accounts.Delete(tx, p.account))
			})
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	}
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "of-user")
}

// TestFullDiskSignsInMemory has no room for the key that signs, nor for an
// organization: whoever has come in stays.
func TestFullDiskSignsInMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		o := rigOptions{dir: t.TempDir(), key: "some-system-key", maxSize: 8 << 20}
		r := openRig(t, o)
		err := r.db.Update(t.Context(), func(tx *store.Tx) error { return errors.Join(EndTokens(tx), organizations.Delete(tx, org)) })
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
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = openRig(t, o)
		if !r.isSystem("some-system-key") {
			t.Error("the system key does not open")
		}
		r.wantToken(t, "by a key that is in memory only", r.token(t, "ada"), true)
		if err := r.RequestOTP(t.Context(), "ada@example.com", network); !errors.Is(err, store.ErrFull) {
			t.Errorf("a code on a full disk: %v", err)
		}
	})
}
