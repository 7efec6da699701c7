//go:build integration

package deb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// debian is a root with packages of several versions in /debs.
type debian struct {
	*root
	t *testing.T // of the step that runs
}

// install is the printed line, with nobody at the terminal.
const install = "dpkg -i </dev/null /debs/roomgate_"

// TestInstall lives through what happens to a package, in the order in which it
// would.
func TestInstall(t *testing.T) {
	r := newRoot(t)
	r.recordSystemd(t)
	d := &debian{root: r}
	for _, step := range []struct {
		name string
		run  func(*debian)
	}{
		{"install", installed}, {"starts", starts}, {"upgrade", upgraded}, {"configuration kept", configurationKept},
		{"configuration refused", configurationRefused}, {"downgrade refused", downgradeRefused},
		{"interrupted", interrupted}, {"disabled", disabled}, {"remove", removed}, {"purge", purged},
	} {
		if !t.Run(step.name, func(t *testing.T) { d.t = t; step.run(d) }) {
			return // the next ones begin where this one ends
		}
	}
}

// orders wants systemd to have been asked for this, and nothing else.
func (d *debian) orders(want ...string) {
	d.t.Helper()
	if got := d.asked(d.t); !slices.Equal(got, want) {
		d.t.Errorf("systemd was asked for %q, want %q", got, want)
	}
}

// version wants the program of a version, whole.
func (d *debian) version(want string) {
	d.t.Helper()
	if got := d.sh(d.t, "tail -n 1 /usr/bin/roomgate; roomgate version >/dev/null"); got != want {
		d.t.Errorf("the program is that of %q, want %s", got, want)
	}
}

func installed(d *debian) {
	d.give(d.t, "1.0", nil)
	d.sh(d.t, install+"1.0.deb")
	d.status(d.t, "install ok installed 1.0")
	d.orders("daemon-reexec", "daemon-reload", "restart roomgate.service")
	d.owners()
	if got := d.sh(d.t, "getent passwd roomgate | cut -d: -f6-; id -nG roomgate | tr ' ' '\n' | sort | xargs"); got != "/var/lib/roomgate:/usr/sbin/nologin\ngpio i2c roomgate spi video" {
		d.t.Errorf("the user is %q", got)
	}
	if !d.exists("/etc/systemd/system/multi-user.target.wants/roomgate.service") {
		d.t.Error("the service is not enabled")
	}
	if got := d.sh(d.t, "dpkg -V roomgate; roomgate check-config"); got != "/etc/roomgate/gateway.yaml: valid, 0 meeting spaces with 0 devices" {
		d.t.Errorf("as it comes it is %q", got)
	}
	if got := d.sh(d.t, "bash -c '. /usr/share/bash-completion/completions/roomgate; complete -p roomgate'"); !strings.Contains(got, "roomgate") {
		d.t.Errorf("bash completes %q", got)
	}
	before := d.sh(d.t, "md5sum /etc/passwd /etc/group")
	d.sh(d.t, "/var/lib/dpkg/info/roomgate.postinst configure 1.0")
	if after := d.sh(d.t, "md5sum /etc/passwd /etc/group"); after != before {
		d.t.Error("a second configuration makes users again")
	}
	d.asked(d.t)
}

// owners wants files to belong to whom they have to.
func (d *debian) owners() {
	d.t.Helper()
	want := `/etc/roomgate 750 root:roomgate
/etc/roomgate/credentials 700 root:root
/etc/roomgate/gateway.yaml 640 root:roomgate
/usr/bin/roomgate 755 root:root`
	if got := d.sh(d.t, "stat -c '%n %a %U:%G' /etc/roomgate /etc/roomgate/credentials /etc/roomgate/gateway.yaml /usr/bin/roomgate"); got != want {
		d.t.Errorf("files are\n%s", got)
	}
}

// starts: the gateway works as it comes, and leaves a database.
func starts(d *debian) {
	d.sh(d.t, `install -d -o roomgate -g roomgate -m 700 /var/lib/roomgate
		setpriv --reuid roomgate --regid roomgate --init-groups roomgate run --listen 127.0.0.1:0 >/out 2>/log & pid=$!
		n=0; until grep -q ^ready /out; do n=$((n+1)); [ $n -lt 300 ] || { cat /out /log; exit 1; }; sleep 0.1; done
		kill $pid; wait $pid; rm /out /log`)
	if !d.exists("/var/lib/roomgate/roomgate.db") {
		d.t.Error("there is no database")
	}
}

// upgraded: from a version whose configuration was a conffile to one that ships another
// text. The service is restarted at the end and never stopped before.
func upgraded(d *debian) {
	d.give(d.t, "1.0.1", func(dir string) {
		output(d.t, "sh", "-ec", `cd "$0"; install -D -m 640 usr/share/roomgate/gateway.yaml etc/roomgate/gateway.yaml
			echo /etc/roomgate/gateway.yaml >>DEBIAN/conffiles`, dir)
	})
	d.sh(d.t, install+"1.0.1.deb")
	d.asked(d.t)
	before := d.read(d.t, "/etc/roomgate/gateway.yaml")
	d.give(d.t, "1.1", d.another)
	d.sh(d.t, install+"1.1.deb")
	d.status(d.t, "install ok installed 1.1")
	d.version("1.1")
	d.orders("daemon-reload", "restart roomgate.service")
	d.owners()
	if d.read(d.t, "/etc/roomgate/gateway.yaml") != before {
		d.t.Error("the configuration is another one")
	}
}

// another ships another text of the configuration.
func (d *debian) another(dir string) {
	edit(d.t, filepath.Join(dir, "usr/share/roomgate/gateway.yaml"), "# another text\n")
}

// configurationKept: what somebody has written stays, and so do passwords and data. No
// question is asked, and no file of ours comes to lie beside it.
func configurationKept(d *debian) {
	edit(d.t, d.path("/etc/roomgate/gateway.yaml"), "# ours\n")
	d.sh(d.t, "umask 077; echo secret >/etc/roomgate/credentials/cloud")
	d.give(d.t, "1.2", d.another)
	d.sh(d.t, install+"1.2.deb")
	d.kept("1.2")
	if got := d.sh(d.t, "ls /etc/roomgate"); got != "credentials\ngateway.yaml" {
		d.t.Errorf("beside the configuration there are %q", got)
	}
	d.asked(d.t)
}

// kept wants a version to be installed, and all that is not the package's to be
// there.
func (d *debian) kept(version string) {
	d.t.Helper()
	d.status(d.t, "install ok installed "+version)
	d.version(version)
	d.owners()
	if !strings.HasSuffix(d.read(d.t, "/etc/roomgate/gateway.yaml"), "# ours\n") || d.read(d.t, "/etc/roomgate/credentials/cloud") != "secret\n" || !d.exists("/var/lib/roomgate/roomgate.db") {
		d.t.Error("configuration, password or database are not there")
	}
}

// configurationRefused: a version that cannot use the configuration leaves the
// gateway running as it was, and is configured once the file is mended.
func configurationRefused(d *debian) {
	good := d.read(d.t, "/etc/roomgate/gateway.yaml")
	edit(d.t, d.path("/etc/roomgate/gateway.yaml"), "spaecs: []\n")
	d.give(d.t, "1.3", nil)
	d.sh(d.t, "mkdir /var/lib/roomgate/releases; dpkg -i /debs/roomgate_1.2.deb; rmdir /var/lib/roomgate/releases") // one of those may know the key
	d.asked(d.t)
	d.refused(d.t, install+"1.3.deb", `nearest known key is "spaces"`)
	d.status(d.t, "install ok half-configured 1.3")
	d.orders()
	if err := os.WriteFile(d.path("/etc/roomgate/gateway.yaml"), []byte(good), 0); err != nil {
		d.t.Fatal(err)
	}
	d.sh(d.t, "dpkg --configure -a")
	d.kept("1.3")
	d.orders("daemon-reload", "restart roomgate.service")
}

func downgradeRefused(d *debian) {
	d.refused(d.t, "dpkg -i /debs/roomgate_1.2.deb", "1.2 is older than 1.3", "make a backup with 1.3 first, roomgate backup FILE")
	d.kept("1.3")
	if got := d.asked(d.t); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "stop") }) {
		d.t.Errorf("systemd was asked for %q", got)
	}
}

// interrupted: the power fails in the middle of an upgrade. What is there is one
// program or the other, and dpkg finishes what it began.
func interrupted(d *debian) {
	for i, at := range []struct{ tool, before string }{
		{"dpkg-deb", `case "$*" in *--fsys-tarfile*) /usr/bin/dpkg-deb "$@" | head -c 0; STOP ;; esac`},
		{"dpkg-deb", `case "$*" in *--fsys-tarfile*) /usr/bin/dpkg-deb "$@" | head -c 5000000; STOP ;; esac`},
		{"dpkg-deb", `case "$*" in *--fsys-tarfile*) /usr/bin/dpkg-deb "$@"; STOP ;; esac`},
		{"systemd-sysusers", "STOP"},
		{"deb-systemd-helper", "STOP"},
		{"deb-systemd-invoke", "STOP"},
	} {
		before, after := "1."+string(rune('3'+i)), "1."+string(rune('4'+i))
		d.give(d.t, after, nil)
		d.cut(at.tool, at.before, "dpkg -i /debs/roomgate_"+after+".deb")
		if got := d.sh(d.t, "tail -n 1 /usr/bin/roomgate; roomgate version >/dev/null"); got != before && got != after {
			d.t.Errorf("cut in %s the program is %q, want %s or %s", at.tool, got, before, after)
		}
		d.sh(d.t, "dpkg --configure -a")
		if got := d.sh(d.t, "dpkg-query -W -f '${db:Status-Status}' roomgate"); got != "installed" {
			if at.tool != "dpkg-deb" {
				d.t.Errorf("cut in %s the package is %s", at.tool, got)
			}
			d.sh(d.t, install+after+".deb") // it was not unpacked whole, and apt says that it wants it again
		}
		d.kept(after)
		d.asked(d.t)
	}
}

// cut runs a command until a tool has come to STOP, and ends everything there.
func (d *debian) cut(tool, before, script string) {
	d.t.Helper()
	if err := os.MkdirAll(d.path("/traps"), 0o755); err != nil {
		d.t.Fatal(err)
	}
	d.write(d.t, "/traps/"+tool, 0o755, "#!/bin/sh\nrm -f /go\n"+strings.ReplaceAll(before, "STOP", "touch /stopped; exec sleep 600")+"\nPATH=/usr/sbin:/usr/bin exec "+tool+` "$@"`+"\n")
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	cmd := d.command(d.t, script)
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	for !d.exists("/stopped") && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond) // for those that are ahead of it
	if err := cmd.Process.Kill(); err != nil {
		d.t.Fatal(err)
	}
	_ = cmd.Wait()
	if ctx.Err() != nil {
		d.t.Fatalf("%s was not reached", tool)
	}
	if err := errors.Join(os.Remove(d.path("/stopped")), os.RemoveAll(d.path("/traps"))); err != nil {
		d.t.Fatal(err)
	}
}

// disabled: who has disabled the service finds it so after an upgrade.
func disabled(d *debian) {
	link := d.path("/etc/systemd/system/multi-user.target.wants/roomgate.service")
	if err := os.Remove(link); err != nil {
		d.t.Fatal(err)
	}
	d.give(d.t, "2.0", nil)
	d.sh(d.t, install+"2.0.deb")
	d.kept("2.0")
	if _, err := os.Lstat(link); err == nil {
		d.t.Error("the service is enabled again")
	}
	d.asked(d.t)
}

// removed: the service stops, everything else that is not the program stays.
func removed(d *debian) {
	d.sh(d.t, "apt-get remove -qq -y roomgate </dev/null")
	d.status(d.t, "deinstall ok config-files 2.0")
	if got := d.asked(d.t); !slices.Contains(got, "stop roomgate.service") {
		d.t.Errorf("systemd was asked for %q", got)
	}
	if d.exists("/usr/bin/roomgate") || d.exists("/usr/lib/systemd/system/roomgate.service") {
		d.t.Error("the program is still there")
	}
	if !d.exists("/var/lib/roomgate/roomgate.db") || !d.exists("/etc/roomgate/credentials/cloud") || !d.exists("/etc/roomgate/gateway.yaml") {
		d.t.Error("data or configuration are gone")
	}
	if d.exists("/etc/avahi/services/roomgate.service") {
		d.t.Error("what is gone is announced")
	}
	d.refused(d.t, "dpkg -i /debs/roomgate_1.2.deb", "1.2 is older than 2.0")
	d.sh(d.t, install+"2.0.deb")
	d.kept("2.0")
	d.asked(d.t)
	if !d.exists("/etc/avahi/services/roomgate.service") {
		d.t.Error("it is announced no more")
	}
}

// purged: nothing is left but the user, and nothing was asked.
func purged(d *debian) {
	d.sh(d.t, "apt-get purge -qq -y roomgate </dev/null")
	if got := d.sh(d.t, "find / -xdev -name '*roomgate*' -not -path '/proc/*' -not -path '/debs/*'"); got != "" {
		d.t.Errorf("left are %s", got)
	}
	d.asked(d.t)
	d.sh(d.t, "apt-get install -qq -y --no-install-recommends /debs/roomgate_1.0.deb </dev/null") // an older one may begin again
	d.status(d.t, "install ok installed 1.0")
	d.version("1.0")
}
