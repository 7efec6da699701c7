//go:build integration

package deb

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCard: a card that `roomgate image seed --package` has prepared installs the package
// at its first start, takes its seed, and then starts as usual. The folder is that of a
// Bookworm; what Trixie and the Imager are given runs the same script.
func TestCard(t *testing.T) {
	needs(t, "systemd-nspawn")
	const stock = "console=tty1 root=PARTUUID=4e639091-02 rootwait"
	r := newRoot(t)
	boot := r.path("/boot/firmware")
	if err := os.MkdirAll(boot, 0o755); err != nil {
		t.Fatal(err)
	}
	r.write(t, "/boot/firmware/cmdline.txt", 0o755, stock)
	desk := t.TempDir()
	output(t, "dpkg-deb", "-x", base(t), desk)
	output(t, filepath.Join(desk, "usr/bin/roomgate"), "image", "seed", boot, "--gateway", "house-3", "--package", base(t))
	output(t, "chmod", "-R", "755", boot) // as files of a FAT are
	line := strings.TrimPrefix(strings.TrimSpace(r.read(t, "/boot/firmware/cmdline.txt")), stock)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// What is handed to its init is a container's command line; it cannot start again.
	said, err := r.nspawn(ctx, strings.Fields(strings.Replace(line, "=reboot", "=poweroff", 1))...).CombinedOutput()
	if !r.exists("/boot/firmware/roomgate-install.txt") {
		if strings.Contains(string(said), "Reached target") {
			t.Fatalf("the first start did not run the script:\n%s", said)
		}
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		t.Skipf("systemd does not boot below a folder here: %v, %s", err, lines[len(lines)-1])
	}
	what := r.read(t, "/boot/firmware/roomgate-install.txt")
	r.status(t, "install ok installed "+first)
	if got := r.read(t, "/boot/firmware/cmdline.txt"); strings.TrimSpace(got) != stock {
		t.Errorf("the next start is told %q, want %q", got, stock)
	}
	if r.exists("/boot/firmware/roomgate-install.sh") {
		t.Errorf("the script is still there: %s", what)
	}
	if got := r.read(t, "/etc/roomgate/gateway.yaml"); !strings.Contains(got, "id: house-3") || !r.exists("/boot/firmware/roomgate-seed.yaml.done") {
		t.Errorf("the seed was not taken: %s", what)
	}
}
