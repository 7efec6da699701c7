package access

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/agent/problem"
)

func TestKeysAreShownOnceStoredHashedAndRevocable(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, rigOptions{dir: dir})
	first := r.NewKey()
	if !strings.HasPrefix(first, "rgsys_") {
		t.Fatalf("the first start made the key %q", first)
	}
	if p, ok := r.AuthenticateKey(first); !ok || !p.System() || p.ID != systemKeyID {
		t.Errorf("the new system key is %v, %v", p, ok)
	}
	k, secret, err := r.CreateKey(t.Context(), "display", time.Time{})
	if err := errors.Join(err, r.KeyShown(t.Context()), r.KeyShown(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}

	r = openRig(t, rigOptions{dir: dir})
	if r.NewKey() != "" {
		t.Error("the second start made another key")
	}
	for _, s := range []string{first, secret} {
		if !r.isSystem(s) {
			t.Errorf("a key does not survive a restart")
		}
	}
	for _, wrong := range []string{"", "x", secret[:len(secret)-1], strings.ToUpper(secret)} {
		if _, ok := r.AuthenticateKey(wrong); ok {
			t.Errorf("%q is let in", wrong)
		}
	}
	if err := r.RevokeKey(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	if r.isSystem(secret) || r.Valid(Principal{ID: k.ID, Kind: KindSystem}) || !r.Valid(Principal{ID: systemKeyID, Kind: KindSystem}) {
		t.Error("a revoked key is still good, or another one is not")
	}
	if problem.As(r.RevokeKey(t.Context(), "nobody")).Code != problem.NotFound {
		t.Error("a key that is not there can be revoked")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	onDisk, err := os.ReadFile(filepath.Join(dir, database))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{first, secret} {
		if bytes.Contains(onDisk, []byte(s[6:30])) {
			t.Error("a secret is on the disk in clear")
		}
	}
}

// A start that was killed before it had shown its key leaves one that nobody knows: the next
// one makes another, until one is shown or given.
func TestSystemKeyThatNobodySawIsMadeAgain(t *testing.T) {
	dir, earlier := t.TempDir(), ""
	for range 2 {
		r := openRig(t, rigOptions{dir: dir})
		key := r.NewKey()
		if !r.isSystem(key) || key == earlier || r.isSystem(earlier) || len(r.Keys()) != 1 {
			t.Errorf("%q follows %q, keys %v", key, earlier, r.Keys())
		}
		if earlier = key; r.Close() != nil {
			t.Error("it does not close")
		}
	}
	for _, given := range []string{"the given key", ""} {
		r := openRig(t, rigOptions{dir: dir, key: given})
		if r.NewKey() != "" || !r.isSystem("the given key") || r.isSystem(earlier) {
			t.Errorf("with %q given: made %q", given, r.NewKey())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSystemKeyFromTheEnvironmentReplacesTheOldOne(t *testing.T) {
	dir := t.TempDir()
	for _, key := range []string{"first-key", "second-key", "second-key", "first-key"} {
		r := openRig(t, rigOptions{dir: dir, key: key})
		if !r.isSystem(key) || r.NewKey() != "" {
			t.Errorf("%q is not the system key", key)
		}
		if keys := r.Keys(); len(keys) != 1 {
			t.Errorf("keys %v, want one", keys)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKeyExpiresOnlyByATrustedClock(t *testing.T) {
	for trust, want := range map[string]bool{"always": false, "never": true} {
		t.Run(trust, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := openRig(t, rigOptions{trust: trust})
				defer r.Close()
				_, secret, err := r.CreateKey(t.Context(), "guest", time.Now().Add(time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				r.wait(2 * time.Hour)
				if ok := r.isSystem(secret); ok != want {
					t.Errorf("good after its end: %v, want %v", ok, want)
				}
			})
		})
	}
}

func TestLastUseIsKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, rigOptions{dir: dir, key: "some-system-key"})
		r.run()
		r.AuthenticateKey("some-system-key")
		used := time.Now().Truncate(time.Second).UTC()
		r.wait(time.Minute)
		r.stop()
		r = openRig(t, rigOptions{dir: dir})
		r.run()
		if got := r.Keys()[0].LastUsed; !got.Equal(used) {
			t.Errorf("last used %v, want %v", got, used)
		}
	})
}

// A key that is revoked keeps when it was last used, also if that was not stored yet.
func TestRevokedKeyKeepsItsLastUse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, rigOptions{dir: dir, key: "some-system-key"})
		key, secret, err := r.CreateKey(t.Context(), "display", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		r.wait(time.Minute)
		r.AuthenticateKey(secret)
		used := time.Now().Truncate(time.Second).UTC()
		r.wait(time.Minute)
		if err := r.RevokeKey(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		check := func(when string) {
			t.Helper()
			for _, k := range r.Keys() {
				if k.ID == key.ID && (!k.Revoked || !k.LastUsed.Equal(used)) {
					t.Errorf("%s: last used %v, want %v, revoked %v", when, k.LastUsed, used, k.Revoked)
				}
			}
		}
		check("at once")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = openRig(t, rigOptions{dir: dir})
		defer r.Close()
		check("after a restart")
	})
}

func TestBadKeysAreRefused(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	if _, _, err := r.CreateKey(t.Context(), " ", time.Time{}); problem.As(err).Field != "name" {
		t.Errorf("a key without a name: %v", err)
	}
	if _, _, err := r.CreateKey(t.Context(), "x", time.Unix(1, 0)); problem.As(err).Field != "expires_at" {
		t.Errorf("a key of the past: %v", err)
	}
}

func TestKeysHaveMilliseconds(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	for range 3 {
		if _, _, err := r.CreateKey(t.Context(), "a", time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range r.Keys() {
		if k.Created.Nanosecond()%1e6 != 0 || k.Expires.Nanosecond()%1e6 != 0 {
			t.Errorf("%s was made at %v and expires at %v", k.Name, k.Created, k.Expires)
		}
	}
}

// TestLastUseIsStoredOnce: an hour in which no key was used asks nothing of the
// store, and whatever is done to a key keeps its last use.
func TestLastUseIsStoredOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := openRig(t, rigOptions{dir: dir, key: "some-system-key"})
		r.run()
		made, secret, err := r.CreateKey(t.Context(), "lobby", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		hours := func(n int) int64 {
			before := r.db.Stats().Updates
			r.wait(time.Duration(n) * keepUse)
			return r.db.Stats().Updates - before
		}
		r.AuthenticateKey(secret)
		used := time.Now().Truncate(time.Second).UTC()
		if n := hours(1); n != 1 {
			t.Errorf("a key was used, and the store was asked %d times in the hour, want 1", n)
		}
		if n := hours(10); n != 0 {
			t.Errorf("no key was used, and the store was asked %d times in ten hours", n)
		}
		if err := r.RevokeKey(t.Context(), made.ID); err != nil {
			t.Fatal(err)
		}
		r.stop()
		r = openRig(t, rigOptions{dir: dir})
		r.run()
		for _, k := range r.Keys() {
			if k.ID == made.ID && !k.LastUsed.Equal(used) {
				t.Errorf("the revoked key was last used %v, want %v", k.LastUsed, used)
			}
		}
	})
}
