//go:build lab

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"roomgate/agent"
	"roomgate/agent/update"
)

const (
	// labRelease is the version of the binary of which releases are made, as long
	// as theirs; labFault is one that does not start.
	labRelease, labFault = "1.99999.0", "1.50000.0"
)

// mistake is a release that takes the configuration and does not start.
const mistake = `#!/bin/sh
case $1 in
version) ROOMGATE version --output json | sed 's/"version": *"[^"]*"/"version":"` + labFault + `"/' ;;
check-config) exec ROOMGATE "$@" ;;
*) echo 'this release has a mistake' >&2; exit 1 ;;
esac
`

// wall is a machine that keeps what it has on a disk, gets updates, and loses its
// power.
type wall struct {
	*lab
	images string   // the folder of all that is made for it
	base   string   // the disk as it was at the last cut
	disk   string   // what was written since then
	data   string   // flags with which the gateway in it is found
	key    string   // that signs its releases
	public string   // the half of it that the gateway knows
	booked []string // what was acknowledged
}

// newWall prepares a machine whose disk is the file of that name.
func newWall(t *testing.T, disk string, env ...string) *wall {
	script, images := os.Getenv("LAB_SCRIPT"), os.Getenv("LAB_IMAGES")
	if script == "" {
		t.Skip("make lab and make wall run this")
	}
	if _, err := exec.LookPath("qemu-img"); err != nil {
		t.Skip("qemu-img is not installed: .ci/install does that")
	}
	l := &lab{T: t, script: script, web: labPort(t), world: labPort(t), dir: filepath.Join(images, disk+".run")}
	l.env = append(env, "LAB_RUN="+l.dir, "LAB_PATIENCE=6000")
	w := &wall{lab: l, images: images, base: filepath.Join(images, disk), disk: filepath.Join(images, disk+".qcow2"), key: filepath.Join(images, disk+".key")}
	t.Cleanup(func() { l.T = t; l.lab("cut") })
	w.public = strings.TrimSpace(w.tool("roomgate", "update", "keygen", w.key))
	return w
}

// tool runs a program of this machine.
func (w *wall) tool(name string, args ...string) string {
	w.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		w.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// layer lets what is written from now on be lost with the power, unless it is
// flushed.
func (w *wall) layer() {
	w.Helper()
	if _, err := os.Stat(w.disk); err == nil {
		w.tool("qemu-img", "commit", "-q", w.disk)
	}
	w.tool("qemu-img", "create", "-q", "-f", "qcow2", "-b", w.base, "-F", "raw", w.disk)
}

// cut takes the power away, and what was not flushed.
func (w *wall) cut() {
	w.Helper()
	w.lab.lab("cut")
	w.layer()
}

// flicker gives the power to an image and takes it away again before that is up.
func (w *wall) flicker(image string, after time.Duration) {
	w.Helper()
	boot := exec.Command(w.script, "boot", image, port(w.web)+":8080", port(w.world)+":7000")
	boot.Env, boot.WaitDelay = append(os.Environ(), w.env...), time.Second
	if err := boot.Start(); err != nil {
		w.Fatal(err)
	}
	time.Sleep(after)
	w.cut()
	_ = boot.Wait() // it says that the machine went away
}

// release is a bundle of the binary of `make wall`, which says that it is that
// version.
func (w *wall) release(version string) []byte {
	w.Helper()
	binary, err := os.ReadFile(filepath.Join(w.images, "release"))
	if err != nil {
		w.Fatal(err)
	}
	if !bytes.Contains(binary, []byte(labRelease)) {
		w.Fatalf("the binary does not say that it is %s", labRelease)
	}
	return w.bundle(version, bytes.ReplaceAll(binary, []byte(labRelease), []byte(version)))
}

// fault is a bundle of a release that does not start, beside the gateway at path.
func (w *wall) fault(path string) []byte {
	w.Helper()
	return w.bundle(labFault, []byte(strings.ReplaceAll(mistake, "ROOMGATE", path)))
}

func (w *wall) bundle(version string, binary []byte) []byte {
	w.Helper()
	private, err := update.ReadKey(w.key)
	var b bytes.Buffer
	m := update.Manifest{Version: version, OS: "linux", Arch: "arm64", Schema: agent.Schema, Created: time.Now()}
	if err = errors.Join(err, update.Write(&b, m, binary, private)); err != nil {
		w.Fatal(err)
	}
	return b.Bytes()
}

// releaseName is the version of a release by its number.
func releaseName(n int) string { return fmt.Sprintf("1.%d.0", 10000+n) }

// updates is how they stand; empty while the gateway restarts.
func (w *wall) updates() (u update.Status) {
	w.Helper()
	_ = json.Unmarshal([]byte(w.sh("roomgate update status --output json "+w.data+" 2>/dev/null || :")), &u)
	return u
}

// stands waits until a release runs and has proved itself.
func (w *wall) stands(version string) {
	w.Helper()
	w.within(patience, version+" runs", func() bool {
		u := w.updates()
		return u.Running == version && u.Trial == nil && u.Next == ""
	})
	w.within(patience, "the gateway is ready", w.ready)
}

// asks is what a command says to a gateway, which may be restarting just now: then
// nobody answers, and the command ends with 4.
func (w *wall) asks(command string) string {
	w.Helper()
	return w.sh("for i in $(seq 120); do roomgate " + command + " 2>/tmp/said; code=$?; [ $code = 4 ] || break; sleep 0.5; done; [ $code = 0 ] || { cat /tmp/said; exit $code; }")
}

// book makes a booking: what is acknowledged has to survive.
func (w *wall) book() {
	w.Helper()
	start := time.Now().UTC().Truncate(time.Hour).Add(time.Duration(24*60+15*len(w.booked)) * time.Minute)
	var booking struct{ ID string }
	said := w.asks("booking create Lab " + start.Format(time.RFC3339) + " 15m --title cut-" + strconv.Itoa(len(w.booked)) + " --output json " + w.data)
	if err := json.Unmarshal([]byte(said), &booking); err != nil || booking.ID == "" {
		w.Fatalf("a booking is answered with %s", said)
	}
	w.booked = append(w.booked, booking.ID)
}

// kept: what was acknowledged is there, and the database is sound.
func (w *wall) kept() {
	w.Helper()
	got := ""
	for day := range 4 {
		got += w.asks("booking list Lab --all --output json --day " + time.Now().AddDate(0, 0, day).Format(time.DateOnly) + " " + w.data)
	}
	for _, id := range w.booked {
		if !strings.Contains(got, id) {
			w.Errorf("booking %s was acknowledged and is gone", id)
		}
	}
}
