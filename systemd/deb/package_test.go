//go:build integration

package deb

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// shared is the folder of the package that several tests begin with.
var shared struct {
	dir  string
	once sync.Once
	path string // of the package
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == roleHub {
		if err := serveHub(); err != nil {
			panic(err)
		}
		return
	}
	var err error
	if shared.dir, err = os.MkdirTemp("", "deb"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(shared.dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// base is the package of the first version for this machine's tests.
func base(t *testing.T) string {
	t.Helper()
	shared.once.Do(func() { shared.path = builtInto(t, shared.dir, first, "amd64")[0] })
	if shared.path == "" {
		t.Fatal("there is no package")
	}
	return shared.path
}

// built makes the packages of a version, fast instead of small.
func built(t *testing.T, version string, architectures ...string) []string {
	t.Helper()
	return builtInto(t, t.TempDir(), version, architectures...)
}

func builtInto(t *testing.T, dir, version string, architectures ...string) []string {
	t.Helper()
	return buildRun(t, exec.CommandContext(t.Context(), "./build", slices.Concat([]string{"-o", dir}, architectures)...), version)
}

func buildRun(t *testing.T, cmd *exec.Cmd, version string) []string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Env = append(os.Environ(), "VERSION="+version, "COMMIT=0123456789abcdef", "DPKG_DEB_COMPRESSOR_LEVEL=0", "SOURCE_DATE_EPOCH=1700000000")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("build: %v\n%s%s", err, out, &stderr)
	}
	return strings.Fields(string(out))
}

// files are what a package has to have, with the modes; a page and a licence
// stand for the others of their kind.
var files = strings.Fields(`
-rwxr-xr-x:/usr/bin/roomgate
-rw-r--r--:/usr/lib/systemd/system/roomgate.service
-rw-r--r--:/usr/lib/systemd/system/roomgate-seed.service
-rw-r--r--:/usr/lib/systemd/system/roomgate-screen.path
-rw-r--r--:/usr/lib/systemd/system/roomgate-screen.service
-rw-r--r--:/usr/lib/systemd/system.conf.d/60-roomgate-watchdog.conf
-rw-r--r--:/usr/lib/udev/rules.d/60-roomgate.rules
-rw-r--r--:/usr/lib/sysusers.d/roomgate.conf
-rw-r--r--:/usr/lib/tmpfiles.d/roomgate.conf
-rw-r--r--:/usr/share/roomgate/gateway.yaml
-rw-r--r--:/etc/avahi/services/roomgate.service
-rw-r--r--:/usr/share/bash-completion/completions/roomgate
-rw-r--r--:/usr/share/zsh/vendor-completions/_roomgate
-rw-r--r--:/usr/share/fish/vendor_completions.d/roomgate.fish
-rw-r--r--:/usr/share/man/man8/roomgate.8.gz
-rw-r--r--:/usr/share/man/man8/roomgate-device-action.8.gz
-rw-r--r--:/usr/share/man/man5/gateway.yaml.5.gz
-rw-r--r--:/usr/share/doc/roomgate/README.md
-rw-r--r--:/usr/share/doc/roomgate/systemd/README.md
-rw-r--r--:/usr/share/doc/roomgate/copyright
-rw-r--r--:/usr/share/doc/roomgate/changelog.gz
-rw-r--r--:/usr/share/doc/roomgate/examples/gateway.yaml
-rw-r--r--:/usr/share/lintian/overrides/roomgate`)

// TestPackages: those of all boards have everything, for their processor.
func TestPackages(t *testing.T) {
	needs(t, "dpkg-deb")
	machines := map[string]elf.Machine{"arm64": elf.EM_AARCH64, "armhf": elf.EM_ARM, "amd64": elf.EM_X86_64}
	packages := built(t, "v1.2.3-rc1-4-gabc1234", "arm64", "armhf", "amd64")
	if len(packages) != len(machines) {
		t.Fatalf("built %q", packages)
	}
	for i, arch := range []string{"arm64", "armhf", "amd64"} {
		t.Run(arch, func(t *testing.T) {
			if got, want := filepath.Base(packages[i]), "roomgate_1.2.3~rc1+4.gabc1234_"+arch+".deb"; got != want {
				t.Errorf("the package is %s, want %s", got, want)
			}
			if got := strings.TrimSpace(output(t, "dpkg-deb", "-f", packages[i], "Architecture")); got != arch {
				t.Errorf("it says it is for %s", got)
			}
			var got []string
			for line := range strings.Lines(output(t, "dpkg-deb", "-c", packages[i])) {
				field := strings.Fields(line)
				got = append(got, field[0]+":"+strings.TrimPrefix(field[len(field)-1], "."))
				if field[1] != "root/root" || field[3] != "2023-11-14" && field[2] != "2023-11-14" {
					t.Errorf("not root's, or not of the commit's time: %s", line)
				}
			}
			for _, want := range files {
				if !slices.Contains(got, want) {
					t.Errorf("%s is not in it", want)
				}
			}
			dir := t.TempDir()
			output(t, "dpkg-deb", "-R", packages[i], dir)
			program, err := elf.Open(filepath.Join(dir, "usr/bin/roomgate"))
			if err != nil {
				t.Fatal(err)
			}
			defer program.Close()
			if libraries, _ := program.ImportedLibraries(); program.Machine != machines[arch] || len(libraries) > 0 {
				t.Errorf("the program is for %v and wants the libraries %q", program.Machine, libraries)
			}
			if got := output(t, "cat", filepath.Join(dir, "DEBIAN/conffiles")); got != "/etc/avahi/services/roomgate.service\n" {
				t.Errorf("the conffiles are %q", got)
			}
		})
	}
	t.Run("lintian", func(t *testing.T) {
		needs(t, "lintian")
		out, err := exec.Command("lintian", "--allow-root", "--fail-on", "error,warning", packages[2]).CombinedOutput()
		if err != nil {
			t.Errorf("lintian: %v\n%s", err, out)
		}
	})
}

// TestPages: each page is in the package, and so is each file that it leads to.
func TestPages(t *testing.T) {
	needs(t, "dpkg-deb")
	dir := t.TempDir()
	output(t, "dpkg-deb", "-x", base(t), dir)
	doc := filepath.Join(dir, "usr/share/doc/roomgate")
	links := regexp.MustCompile(`\]\(([^):#\s]+)[^):]*\)|src="([^"]+)"`)
	for _, folder := range []string{"", "agent", "agent/api", "cloud", "cmd/roomgate", "configs", "drivers", "systemd"} {
		text, err := os.ReadFile(filepath.Join(doc, folder, "README.md"))
		if err != nil {
			t.Error(err)
		}
		for _, m := range links.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(doc, folder, m[1]+m[2])); err != nil {
				t.Errorf("%s/README.md leads to %v", folder, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "usr/share/man/man5/gateway.yaml.5.gz")); err != nil {
		t.Error(err)
	}
}

// TestPackageIsReproducible: the same commit gives the same bytes, whoever
// builds it, wherever and whenever.
func TestPackageIsReproducible(t *testing.T) {
	needs(t, "dpkg-deb", "git", "tar")
	here := base(t)
	away := t.TempDir()
	output(t, "sh", "-ec", `cd ../..; git ls-files -z | tar --null -T - -c | tar -x -C "$0"`, away)
	there := buildRun(t, exec.CommandContext(t.Context(), "sh", "-ec", `umask 077; export TZ=Asia/Tokyo LC_ALL=C.UTF-8 TMPDIR=/var/tmp
		exec "$0"/systemd/deb/build -o "$0/out" amd64`, away), first)
	a, err := os.ReadFile(here)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(there[0])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Error("two builds differ")
	}
}

// TestVersions: the versions of packages are in the order of what they are made
// of.
func TestVersions(t *testing.T) {
	needs(t, "dpkg")
	script := output(t, "sed", "-n", "/^debian_version() {/,/^}/p", "build")
	order := []string{"abc1234", "v0.1-rc1", "v0.1", "v0.1-12-gabc1234", "v0.1-12-gabc1234-dirty", "v0.2-rc1", "v0.2-rc2-1-gabc1234", "0.2", "v1.10.0"}
	var versions []string
	for _, said := range order {
		out := output(t, "bash", "-euc", `die() { exit 1; }; SOURCE_DATE_EPOCH=1700000000 said=$0; `+script+"\ndebian_version", said)
		versions = append(versions, strings.TrimSpace(out))
	}
	for i, v := range versions[1:] {
		if err := exec.Command("dpkg", "--compare-versions", versions[i], "lt", v).Run(); err != nil {
			t.Errorf("%s is not below %s", versions[i], v)
		}
	}
	if !regexp.MustCompile(`^0~20231114\.\d{6}\.abc1234$`).MatchString(versions[0]) {
		t.Errorf("without a tag it is %s", versions[0])
	}
}
