//go:build lab

package main

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"roomgate/agent/doctor"
)

const (
	// labPackage is the version of the package on the stick.
	labPackage = "1.10000.0"
	// bootPart is where the boot partition begins on the disk, for mtools.
	bootPart = "@@1M"
)

// seedOfDisk is what is written at the desk; what it names is on the board of
// the lab.
const seedOfDisk = `
gateway: {id: wall-1}
clock: {trust: always}
cloud: {url: %q, acks: backend}
update: {trial: 5s, keys: [%q]}
spaces:
  - id: 00000000-0000-4000-8000-0000000001ab
    name: Lab
    timezone: Europe/Berlin
    devices:
      - {id: lab-lock, type: lock, driver: lock-relay, poll: 1s, options: {relay: relay, sense: sense, contact: contact, relock: 2s, settle: 3s}}
      - {id: lab-light, type: light, driver: light-pwm, poll: 1s, options: {channel: pwmchip0/0}}
      - {id: lab-fan, type: fan, driver: fan-pwm, poll: 1s, options: {channel: pwmchip0/1, tach: tach, spin_up: 5s}}
      - {id: lab-o3, type: o3-sensor, driver: o3-parts, poll: 1s, options: {bus: i2c-0, pir: pir, hold: 3s, buzzer: buzzer, ring: spidev0.0}}
`

// debian is a machine with a Debian that boots from its disk, and a stick.
type debian struct {
	*wall
	stick string
	cloud string // where the broker is, for who is outside of the machine
}

// TestLabDisk goes from the box to the wall: a disk is prepared at a desk and
// booted, the package installed, the seed taken, one update applied and one
// rolled back, while the power is cut. LAB_DISK_CUTS is how often during updates.
func TestLabDisk(t *testing.T) {
	d := newDebian(t)
	for _, r := range []struct {
		name string
		run  func(*debian)
	}{
		{"disk/debian/first boot/none", (*debian).firstBoot},
		{"disk/debian/login/none", (*debian).login},
		{"disk/debian/install/power cut", (*debian).install},
		{"disk/debian/seed, doctor/none", (*debian).settled},
		{"disk/debian/claim/none", (*debian).claim},
		{"disk/debian/seed/mistakes", (*debian).mistakes},
		{"disk/debian/update/none", (*debian).update},
		{"disk/debian/update/release does not start", (*debian).rollBack},
		{"disk/debian/update/power cuts", (*debian).cuts},
	} {
		if d.row(r.name, func(*lab) { r.run(d) }); d.Failed() {
			return // nothing that follows would tell more
		}
	}
}

// newDebian prepares disk and stick as at a desk. The card is larger than the disk
// that is written to it.
func newDebian(t *testing.T) *debian {
	stick := filepath.Join(os.Getenv("LAB_IMAGES"), "stick")
	d := &debian{newWall(t, "disk", "LAB_BOARD=disk", "LAB_STICK="+stick), stick, ""}
	d.journal = "journalctl -b --no-pager | tail -n 40"
	d.startCloud()
	d.cloud = "mqtt://127.0.0.1:" + os.Getenv("LAB_CLOUD")
	desk, answers := filepath.Join(d.images, "desk"), filepath.Join(d.images, "answers.yaml")
	if err := errors.Join(os.Mkdir(desk, 0o700), os.Truncate(d.base, 4<<30),
		os.WriteFile(answers, fmt.Appendf(nil, seedOfDisk, "mqtt://10.0.2.2:"+os.Getenv("LAB_CLOUD"), d.public), 0o600)); err != nil {
		t.Fatal(err)
	}
	d.tool("roomgate", "image", "seed", desk, "--answers", answers)
	d.tool("mcopy", "-o", "-i", d.base+bootPart, filepath.Join(desk, "roomgate-seed.yaml"), "::")
	d.layer()
	d.tool("mkfs.vfat", "-C", d.stick, strconv.Itoa(128<<10))
	d.tool("mcopy", "-i", d.stick, filepath.Join(d.images, "roomgate.deb"), "::")
	return d
}

// give puts a bundle onto the stick, and plugs it in again.
func (d *debian) give(name string, bundle []byte) {
	d.Helper()
	path := filepath.Join(d.images, name)
	if err := os.WriteFile(path, bundle, 0o600); err != nil {
		d.Fatal(err)
	}
	d.tool("mcopy", "-o", "-i", d.stick, path, "::")
	d.sh("umount /media/stick; blockdev --flushbufs /dev/vdb; mount -o ro /dev/vdb /media/stick")
}

// on boots the machine and says how long that took.
func (d *debian) on() time.Duration {
	d.Helper()
	began := time.Now()
	d.lab.lab("boot", d.disk, port(d.web)+":8080", port(d.world)+":7000")
	d.sh("mkdir -p /media/stick; mountpoint -q /media/stick || mount -o ro /dev/vdb /media/stick")
	return time.Since(began).Round(time.Second)
}

// firstBoot: what the scripts made is a machine that starts by itself, and takes
// the whole of its card.
func (d *debian) firstBoot() {
	took := d.on()
	d.within(patience, "systemd has started everything", func() bool {
		return strings.Contains("running degraded", d.sh("systemctl is-system-running || :"))
	})
	if got := d.sh("systemctl --failed --plain --no-legend"); got != "" {
		d.Errorf("after the first boot: %s\n%s", got, d.sh(d.journal))
	}
	if got := d.sh("mountpoint /boot/firmware; ls /boot/firmware"); !strings.Contains(got, "roomgate-seed.yaml") {
		d.Errorf("on the boot partition: %s", got)
	}
	if got, err := strconv.Atoi(d.sh("df --output=size / | tail -n 1 | tr -d ' '")); err != nil || got < 3<<20 {
		d.Errorf("the root has %d KiB of a card of 4 GiB", got)
	}
	d.Logf("note: up after %v", took)
}

// login: who has the key gets in, from the first start on, and nobody else.
func (d *debian) login() {
	key, err := os.ReadFile(filepath.Join(d.images, "installer"))
	if err != nil {
		d.Fatal(err)
	}
	const ssh = "ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=/tmp/known "
	d.sh("umask 077; echo " + base64.StdEncoding.EncodeToString(key) + " | base64 -d >/tmp/installer")
	if got := d.sh(ssh + "-i /tmp/installer root@127.0.0.1 id -un 2>&1 || :"); !strings.HasSuffix(got, "root") {
		d.Errorf("with the key: %s", got)
	}
	if got := d.sh("rm /tmp/installer; " + ssh + "root@127.0.0.1 id -un 2>&1 || :"); !strings.Contains(got, "Permission denied (publickey)") {
		d.Errorf("without the key: %s", got)
	}
}

// install: the power is cut while the package is unpacked; dpkg mends what it had
// begun, and the package installs.
func (d *debian) install() {
	d.sh("setsid dpkg -i /media/stick/roomgate.deb >/dev/null 2>&1 </dev/null &")
	time.Sleep(time.Duration(500+rand.IntN(2500)) * time.Millisecond)
	d.cut()
	d.on()
	began := time.Now()
	d.sh("dpkg --configure -a; DEBIAN_FRONTEND=noninteractive apt-get install -y -q /media/stick/roomgate.deb")
	took := time.Since(began).Round(time.Second)
	if got := d.sh("dpkg --audit; dpkg-query -W -f '${Status} ${Version}' roomgate"); got != "install ok installed "+labPackage {
		d.Errorf("dpkg says %q", got)
	}
	d.serves()
	d.Logf("note: whole after the cut, installed in %v, rooms served after %v", took, time.Since(began).Round(time.Second))
}

// serves waits for the gateway with its devices.
func (d *debian) serves() {
	d.Helper()
	d.within(patience, "the gateway is ready", d.ready)
	for _, device := range []string{"lock", "light", "fan"} {
		d.within(time.Minute, device+" is online", func() bool { return strings.HasSuffix(d.status(device, ""), " online") })
	}
}

// settled: the seed became the configuration, and the doctor finds nothing.
func (d *debian) settled() {
	if got := d.sh("ls /boot/firmware; systemctl is-active roomgate; systemctl is-enabled roomgate; systemctl show -P NRestarts roomgate"); !strings.Contains(got, "roomgate-seed.yaml.done") || !strings.HasSuffix(got, "active\nenabled\n0") {
		d.Errorf("after the seed: %s", got)
	}
	d.sound()
}

// sound: the doctor finds nothing that fails, and systemd and dpkg have nothing
// to complain of.
func (d *debian) sound() {
	d.Helper()
	for _, f := range d.examine("") {
		if f.State == doctor.Fail {
			d.Errorf("the doctor finds %+v", f)
		}
	}
	if got := d.sh("systemctl --failed --plain --no-legend; dpkg --audit"); got != "" {
		d.Errorf("not in order: %s", got)
	}
}

// update: a bundle on a stick becomes what runs.
func (d *debian) update() {
	d.give(releaseName(1), d.release(releaseName(1)))
	began := time.Now()
	d.sh("roomgate update --now /media/stick/" + releaseName(1))
	taken := time.Since(began).Round(time.Second)
	d.stands(releaseName(1))
	d.sound()
	d.Logf("note: taken in %v, proved after %v", taken, time.Since(began).Round(time.Second))
}

// rollBack: a release that does not start is given up, and the one before runs.
func (d *debian) rollBack() {
	d.give(labFault, d.fault("/usr/bin/roomgate"))
	began := time.Now()
	d.sh("roomgate update --now /media/stick/" + labFault)
	d.within(patience, "the release is given up", func() bool {
		u := d.updates()
		return u.Running == releaseName(1) && u.Failed != nil && u.Failed.Version == labFault
	})
	d.serves()
	d.sound()
	d.within(time.Minute, "an event tells", func() bool { return strings.Contains(d.sh("roomgate events --type updateFailed"), labFault) })
	d.Logf("note: %s runs again after %v", releaseName(1), time.Since(began).Round(time.Second))
}

// cuts: the power may go at any moment of an update and of a boot.
func (d *debian) cuts() {
	times, err := strconv.Atoi(cmp.Or(os.Getenv("LAB_DISK_CUTS"), "2"))
	if err != nil {
		d.Fatal(err)
	}
	running, next := 1, 2
	d.give(releaseName(next), d.release(releaseName(next)))
	for n := range times {
		d.book()
		what := []string{releaseName(next), labFault}[n%2]
		d.sh("setsid roomgate update --now --again /media/stick/" + what + " >/tmp/update 2>&1 </dev/null &")
		time.Sleep(time.Duration(rand.IntN(30_000)) * time.Millisecond)
		d.cut()
		d.flicker(d.disk, time.Duration(2000+rand.IntN(30_000))*time.Millisecond)
		d.on()
		d.serves()
		d.kept()
		u := d.updates()
		if u.Running != releaseName(running) && u.Running != releaseName(next) {
			d.Fatalf("after cut %d %q runs, want %s or %s: %+v", n+1, u.Running, releaseName(running), releaseName(next), u)
		}
		if u.Running == releaseName(next) && u.Trial == nil {
			running, next = next, next+1
			d.give(releaseName(next), d.release(releaseName(next)))
		}
	}
	d.sound()
	d.Logf("note: %d cuts during updates and %d during boots, %d bookings kept", times, times, len(d.booked))
}
