//go:build integration

package deb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// top is the clone as seen from this folder.
const top = "../.."

// root is a Debian system of its own: below a folder, with its own processes,
// and without a network.
type root struct {
	dir string
}

// newRoot unpacks a Debian with systemd. It is made once and kept in .cache.
func newRoot(t *testing.T) *root {
	t.Helper()
	needs(t, "dpkg-deb", "mmdebstrap", "unshare", "chroot", "tar")
	if os.Getuid() != 0 {
		t.Skip("this is not root, which a Debian below a folder takes")
	}
	suite := strings.TrimSpace(output(t, "sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME"))
	image, err := filepath.Abs(filepath.Join(top, ".cache", "deb", suite+".tar"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(image); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(image), 0o755); err != nil {
			t.Fatal(err)
		}
		output(t, "mmdebstrap", "--quiet", "--variant=apt", "--include=systemd,gpgv", suite, image+".new.tar")
		if err := os.Rename(image+".new.tar", image); err != nil {
			t.Fatal(err)
		}
	}
	r := &root{filepath.Join(t.TempDir(), "root")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	output(t, "tar", "-C", r.dir, "-xf", image)
	// What a power cut leaves of a file is dpkg's to prove; without its flushes a package takes a second.
	r.write(t, "/etc/dpkg/dpkg.cfg.d/unsafe-io", 0o644, "force-unsafe-io\n")
	return r
}

// recordSystemd writes down what the scripts of the package ask systemd for,
// which does not run. What only has to do with files is done.
func (r *root) recordSystemd(t *testing.T) {
	t.Helper()
	output(t, "mv", r.path("/usr/bin/systemctl"), r.path("/usr/bin/systemctl.files"))
	r.write(t, "/usr/bin/systemctl", 0o755, "#!/bin/sh\ncase \"$*\" in\n--root*) exec systemctl.files \"$@\" ;;\nesac\necho \"$*\" >>/asked\n")
	if err := os.MkdirAll(r.path("/run/systemd/system"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// path is a path of the root as seen from outside.
func (r *root) path(inside string) string { return filepath.Join(r.dir, inside) }

func (r *root) write(t *testing.T, path string, mode os.FileMode, text string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(r.path(path)), os.WriteFile(r.path(path), []byte(text), mode), os.Chmod(r.path(path), mode)); err != nil {
		t.Fatal(err)
	}
}

func (r *root) read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(r.path(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (r *root) exists(path string) bool {
	_, err := os.Lstat(r.path(path))
	return err == nil
}

// command is a shell command in the root. All its processes end with it, and if
// it is killed, at once, as by a power cut.
func (r *root) command(t *testing.T, script string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc="+r.path("/proc"),
		"chroot", r.dir, "env", "-i", "PATH=/traps:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME=/root",
		"LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "sh", "-euc", script)
	return cmd
}

// nspawn boots the root with its systemd, without a network, and says more to it as a
// kernel would.
func (r *root) nspawn(ctx context.Context, more ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "systemd-nspawn", slices.Concat([]string{"--directory=" + r.dir, fmt.Sprintf("--machine=roomgate-%d", os.Getpid()),
		"--private-network", "--register=no", "--keep-unit", "--link-journal=no", "--resolv-conf=off", "--timezone=off", "--boot"}, more)...)
}

// sh runs a command in the root, which has to work.
func (r *root) sh(t *testing.T, script string) string {
	t.Helper()
	out, err := r.command(t, script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// refused runs a command in the root, which has to fail, and to say that.
func (r *root) refused(t *testing.T, script string, want ...string) {
	t.Helper()
	out, err := r.command(t, script).CombinedOutput()
	if err == nil || slices.ContainsFunc(want, func(s string) bool { return !strings.Contains(string(out), s) }) {
		t.Errorf("%s ended with %v, want a failure that says %q:\n%s", script, err, want, out)
	}
}

// status is what dpkg says about the package.
func (r *root) status(t *testing.T, want string) {
	t.Helper()
	if got := r.sh(t, "dpkg-query -W -f '${Status} ${Version}' roomgate 2>&1 || :"); got != want {
		t.Errorf("the package is %q, want %q", got, want)
	}
}

// asked is what systemd was asked to do since the last time, without questions.
func (r *root) asked(t *testing.T) (orders []string) {
	t.Helper()
	text, err := os.ReadFile(r.path("/asked"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(strings.ReplaceAll(line, "--quiet ", ""))
		if !strings.Contains(line, "is-enabled") && !strings.Contains(line, "is-active") && !strings.Contains(line, "show") {
			orders = append(orders, strings.TrimPrefix(line, "--system "))
		}
	}
	if err := os.RemoveAll(r.path("/asked")); err != nil {
		t.Fatal(err)
	}
	return orders
}

// give puts the package of another version into /debs: the one that was built,
// edited, and not compressed.
func (r *root) give(t *testing.T, version string, change func(dir string)) {
	t.Helper()
	dir := t.TempDir()
	output(t, "dpkg-deb", "-R", base(t), dir)
	output(t, "sed", "-i", "s/^Version: .*/Version: "+version+"/", dir+"/DEBIAN/control")
	edit(t, filepath.Join(dir, "usr/bin/roomgate"), "\n"+version+"\n") // so that each has its own
	output(t, "sed", "-i", "\\| usr/bin/roomgate$|d", dir+"/DEBIAN/md5sums")
	if change != nil {
		change(dir)
	}
	if err := os.MkdirAll(r.path("/debs"), 0o755); err != nil {
		t.Fatal(err)
	}
	output(t, "dpkg-deb", "--root-owner-group", "-Znone", "-b", dir, r.path("/debs/roomgate_"+version+".deb"))
}

// edit adds to a file.
func edit(t *testing.T, path, line string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(line)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// needs skips a test for which this machine lacks a tool.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: .ci/install does that", tool)
		}
	}
}

// output runs a command on this machine, which has to work.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", fmt.Sprint(name, args), err, out, &stderr)
	}
	return string(out)
}
