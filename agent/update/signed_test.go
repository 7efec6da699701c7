package update

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A key that is taken out of the configuration ends the releases that it has
// signed; the same release, signed by one that is in it, mends that.
func TestRevokedKey(t *testing.T) {
	r := settled(t)
	r.Keys = []ed25519.PublicKey{stranger.Public().(ed25519.PublicKey)}
	words := strings.Join(r.Status().Lines(), "\n") // it still runs
	if !strings.Contains(words, "1.2.0 cannot be verified for another start: it is signed by none of the keys") {
		t.Errorf("while it runs: %s", words)
	}
	var again bytes.Buffer
	must(t, Write(&again, manifestOf("1.2.0"), binaryOf("1.2.0"), stranger))
	bundle := again.Bytes()
	mended := r.as("1.2.0")
	_, err := mended.Install(t.Context(), bytes.NewReader(bundle), Install{})
	must(t, err)
	r.wantStart(t, "1.2.0")
	if s := mended.Status(); len(s.NotStarted) > 0 || mended.State().Next != nil {
		t.Errorf("after that: %+v", s)
	}

	r = settled(t)
	r.Keys = []ed25519.PublicKey{stranger.Public().(ed25519.PublicKey)}
	r.wantStart(t, "1.0.0", "1.0.0")
	r = r.as("1.0.0")
	if got := r.Status().NotStarted; len(got) != 2 || got[0].Version != "1.2.0" || got[1].Version != "1.1.0" {
		t.Errorf("not started: %+v", got)
	}
	_, err = r.Install(t.Context(), bytes.NewReader(bundle), Install{})
	must(t, err)
	must(t, r.Begin(false))
	r.wantStart(t, "1.2.0")
	if got := r.as("1.2.0").Status().NotStarted; len(got) > 0 {
		t.Errorf("not started: %+v", got)
	}
}

// Commit 536cb25 kept no signature. Such a release is not started any more; the
// package is, until the bundle was installed once more.
func TestReleaseOfBeforeSignaturesWereKept(t *testing.T) {
	r := settled(t)
	for _, v := range []string{"1.1.0", "1.2.0"} {
		must(t, os.Remove(r.in(v, signedFile)))
	}
	// A release that such a package has started says so, and takes its signature.
	if words := strings.Join(r.Status().Lines(), "\n"); !strings.Contains(words, "1.2.0 cannot be verified for another start: no signature is kept beside it") {
		t.Errorf("while it runs: %s", words)
	}
	other := manifestOf("1.2.0")
	other.Schema = 2
	if _, err := r.Install(t.Context(), bytes.NewReader(bundleOf(t, other)), Install{}); err == nil || !strings.Contains(err.Error(), "not newer than 1.2.0") {
		t.Errorf("another release of that version: %v", err)
	}
	must(t, r.take(t, "1.2.0"))
	r.wantStart(t, "1.2.0")

	must(t, os.Remove(r.in("1.2.0", signedFile)))
	r.wantStart(t, "1.0.0", "1.0.0")
	r = r.as("1.0.0")
	must(t, r.take(t, "1.2.0"))
	must(t, r.Begin(false))
	r.wantStart(t, "1.2.0")
	must(t, r.as("1.2.0").Confirm())

	// One that waits takes its signature without a trial that is lost before it begins.
	r = r.as("1.2.0")
	must(t, r.take(t, "1.3.0"))
	must(t, os.Remove(r.in("1.3.0", signedFile)))
	must(t, r.take(t, "1.3.0"))
	must(t, r.Begin(false))
	r.wantStart(t, "1.3.0")
}

// What becomes of a release of which the system starts nothing is known until it
// runs.
func TestUnstartableReleaseIsRemembered(t *testing.T) {
	r := settled(t)
	for range 3 {
		must(t, r.Unstartable("1.2.0", unix.EACCES))
		r.wantStart(t, "1.2.0")
	}
	if s := r.State(); len(s.NotStarted) != 1 || len(s.News) != 1 || !strings.Contains(s.News[0].Reason, "permission denied") {
		t.Errorf("%+v", s)
	}
	must(t, r.Runs())
	if s := r.State(); len(s.NotStarted) != 0 {
		t.Errorf("%+v", s)
	}
}

// A key changes without a restart: the release that runs takes the signature of the
// new one while the old one is still trusted.
func TestKeyChanges(t *testing.T) {
	r := settled(t)
	r.Keys = bothKeys()
	must(t, r.resign(t))
	if s := r.State(); s.Next != nil {
		t.Errorf("it waits for a trial: %+v", s.Next)
	}
	if err := r.resign(t); err == nil || !strings.Contains(err.Error(), "not newer than 1.2.0") {
		t.Errorf("once more: %v", err)
	}
	r.Keys = bothKeys()[1:]
	r.wantStart(t, "1.2.0")
}
