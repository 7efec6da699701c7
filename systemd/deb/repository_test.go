//go:build integration

package deb

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRepository: apt installs from a repository that was signed with the
// owner's key, and from no other.
func TestRepository(t *testing.T) {
	needs(t, "gpg", "apt-ftparchive")
	r := newRoot(t)
	dir := r.path("/repository")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	output(t, "cp", base(t), dir)
	home := filepath.Join(t.TempDir(), "gnupg")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GNUPGHOME", home)
	t.Cleanup(func() { _ = exec.Command("gpgconf", "--kill", "all").Run() })
	for _, who := range []string{"owner@example.org", "stranger@example.org"} {
		output(t, "gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key", who, "ed25519", "sign", "never")
	}
	sign := func(key string) { output(t, "./repository", dir, key) }
	sign("owner@example.org")

	r.sh(t, `cp /repository/roomgate.pgp /usr/share/keyrings/
		rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
		echo 'deb [signed-by=/usr/share/keyrings/roomgate.pgp] file:/repository ./' >/etc/apt/sources.list.d/roomgate.list
		apt-get update -qq 2>&1`)
	r.sh(t, "apt-get install -qq -y --no-install-recommends roomgate </dev/null")
	r.status(t, "install ok installed "+first)

	const update = "rm -rf /var/lib/apt/lists/*; apt-get update -qq --error-on=any 2>&1"
	packages := r.read(t, "/repository/Packages")
	for _, list := range []string{"Packages", "Packages.gz"} {
		r.write(t, "/repository/"+list, 0o644, strings.Replace(packages, "Section: net", "Section: web", 1))
	}
	r.refused(t, update, "")
	sign("stranger@example.org")
	r.refused(t, update, "public key is not available")
	sign("owner@example.org")
	r.sh(t, update)

	out, err := exec.Command("./repository", dir, "nobody@example.org").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "gpg has no secret key nobody@example.org") {
		t.Errorf("a key that is not there: %v\n%s", err, out)
	}
}
