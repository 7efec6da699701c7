package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"roomgate/agent/config"
	"roomgate/agent/setup"
	"roomgate/cloud"
	"roomgate/drivers"
	"roomgate/drivers/all"
	"roomgate/drivers/camera"

	"roomgate/cmd/roomgate/show"
)

// The one camera on USB is proposed for the first room, and for no other.
func TestACameraIsProposed(t *testing.T) {
	const path = "/dev/v4l/by-id/usb-cam-video-index0"
	var out bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	w := &wizard{cmd: cmd, Terminal: show.NewTerminal(strings.NewReader("\n\n"), &out),
		board:  setup.Board{Cameras: []setup.Video{{Path: path}}},
		memory: memory{typed: map[string]string{}, keys: map[string]bool{}}}
	a := setup.NewAnswers()
	for i, room := range []string{"Atlas", "Bora"} {
		w.room = i + 1
		if err := w.askCamera(setupRoom{Space: a.Space(room, "UTC"), name: room}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := a.YAML()
	if err != nil || strings.Count(string(got), "device: "+path) != 1 || !strings.Contains(out.String(), "path or URL ["+path+"]") {
		t.Errorf("%v\n%s\n%s", err, out.String(), got)
	}
}

// Who cannot write the configuration is told so before the first question.
func TestSetupWantsRootFirst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "etc")
	if err := os.Mkdir(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	seen := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its user
		_, _, _ = syscall.RawSyscall(unix.SYS_SETRESUID, 65534, ^uintptr(0), ^uintptr(0))
		seen <- mayWrite(filepath.Join(dir, "roomgate", "gateway.yaml"))
	}()
	if err := <-seen; err == nil || !strings.HasSuffix(strings.Replace(err.Error(), "sudo roomgate setup", asRoot(false), 1), "which takes root: "+asRoot(false)) {
		t.Errorf("it says %v", err)
	}
	if err := mayWrite(filepath.Join(t.TempDir(), "a", "b", "gateway.yaml")); err != nil {
		t.Error(err)
	}
}

// The next command is the least that lets a change take effect.
func TestNextCommand(t *testing.T) {
	const room = "gateway: {id: a}\nspaces: [{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: Aurora}]\n"
	for name, c := range map[string]struct {
		before, after string
		secret        bool
		want          string
	}{
		"nothing":       {room, room, false, ""},
		"a room":        {"gateway: {id: a}\n", room, false, "systemctl reload roomgate && roomgate doctor"},
		"the cloud":     {room, room + "cloud: {url: mqtts://x}\n", false, "systemctl restart roomgate && roomgate doctor"},
		"a password":    {"gateway: {id: a}\n", room, true, "systemctl restart roomgate && roomgate doctor"},
		"the first one": {"", room, false, "systemctl restart roomgate && roomgate doctor"},
	} {
		w := &wizard{options: setup.Options{Kinds: all.All()}}
		p := &setup.Plan{File: defaultConfig, After: []byte(c.after)}
		if c.before != "" {
			p.Before = []byte(c.before)
		}
		if c.secret {
			p.Credentials = []setup.Credential{{Name: "x"}}
		}
		var err error
		if p.Config, err = config.Parse("gateway.yaml", p.After, w.options.Kinds); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(w.next(p), "sudo ", ""); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A password that a hub refuses is told at once, and written all the same: the hub may get
// it later. A hub that keeps the one it has is not asked.
func TestARefusedPasswordIsToldAtOnce(t *testing.T) {
	for typed, warned := range map[string]bool{"right": false, "wrong": true, "": false} {
		var out bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		w := &wizard{cmd: cmd, Terminal: show.NewTerminal(strings.NewReader("10.0.0.7:1883\n"+typed+"\n"), &out), options: setup.Options{Kinds: all.All()},
			memory: memory{typed: map[string]string{}, keys: map[string]bool{}},
			refuses: func(address, _, password string) (bool, bool) {
				return true, address == "10.0.0.7:1883" && password != "right"
			}}
		a := setup.NewAnswers()
		if err := w.askHub(setupRoom{Space: a.Space("Atlas", "UTC"), name: "Atlas"}); err != nil {
			t.Fatal(err)
		}
		got, err := a.YAML()
		if err != nil || strings.Contains(out.String(), "the hub at 10.0.0.7:1883 refuses this password: type back to correct it\n") != warned || !strings.Contains(string(got), "address: 10.0.0.7:1883") {
			t.Errorf("%q: %v\n%s\n%s", typed, err, out.String(), got)
		}
	}
}

// TestCloudPasswordIsTriedAtOnce: also at the cloud, and what cannot be tried is said.
func TestCloudPasswordIsTriedAtOnce(t *testing.T) {
	for typed, want := range map[string]string{"right": "  the broker takes user and password\n", "wrong": "  WARNING: the broker refuses user berlin-3 with this password: type back to correct it\n",
		"far": "  the broker is not reached: whether user and password are right doctor says once it is; check cloud.url"} {
		var out bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		w := &wizard{cmd: cmd, Terminal: show.NewTerminal(strings.NewReader("mqtts://c.example.com\nberlin-3\n"+typed+"\n"), &out), memory: memory{typed: map[string]string{}, keys: map[string]bool{}},
			knows: func(c config.Cloud, _ string) cloud.Trouble {
				if c.URL != "mqtts://c.example.com" || c.Username != "berlin-3" {
					t.Errorf("asked for %+v", c)
				}
				return cloud.Trouble{Cause: map[drivers.Secret]cloud.Cause{"right": "", "wrong": cloud.CauseLogin, "far": cloud.CauseUnreachable}[c.Password]}
			}}
		if err := w.askCloud(setup.NewAnswers(), config.Cloud{}, "a"); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%q: %v\n%s", typed, err, out.String())
		}
	}
}

// TestAUserHasAPassword: also a user that is configured without one. Who logs in by a certificate
// needs none.
func TestAUserHasAPassword(t *testing.T) {
	for certificate, again := range map[string]bool{"": true, "client.crt": false} {
		var out bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		w := &wizard{cmd: cmd, Terminal: show.NewTerminal(strings.NewReader("\n\n\nright\n"), &out), memory: memory{typed: map[string]string{}, keys: map[string]bool{}},
			knows: func(config.Cloud, string) cloud.Trouble { return cloud.Trouble{} }}
		known := config.Cloud{URL: "mqtts://c.example.com", Username: "berlin-3", ClientCertificate: certificate}
		if err := w.askCloud(setup.NewAnswers(), known, "a"); err != nil || strings.Contains(out.String(), "user berlin-3 has no password yet") != again {
			t.Errorf("with the certificate %q: %v\n%s", certificate, err, out.String())
		}
	}
}

// TestTwoRoomsWithTheSameIDs: the second name is refused where it is typed, also beside a room of
// the configuration.
func TestTwoRoomsWithTheSameIDs(t *testing.T) {
	known := []config.Space{{Name: "Bora 1", Devices: []config.Device{{ID: "bora-1-lock", Type: drivers.TypeLock}}},
		{Name: "Cora 1"}}
	u := &boardUses{known: known, rooms: []string{"Atlas", "会議室"}}
	for said, want := range map[string]string{"Atlas!": "Atlas", "bora-1": "Bora 1", "Bora 1": "", "bora 1": "", "Cora-1": "Cora 1", "Dora": "", "応接室": ""} {
		if got := u.sameIDs(said); got != want {
			t.Errorf("%q is %q, want %q", said, got, want)
		}
	}
}

// TestACamerasPasswordIsTriedAtOnce: as that of a hub is.
func TestACamerasPasswordIsTriedAtOnce(t *testing.T) {
	for typed, want := range map[string]string{"right": "  the camera at 10.0.0.9 takes user and password\n", "wrong": "  WARNING: the camera at 10.0.0.9 refuses user and password: type back to correct them\n",
		"far": "  nobody answers at 10.0.0.9: whether the password is right doctor says once the camera is there\n"} {
		var out bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		w := &wizard{cmd: cmd, Terminal: show.NewTerminal(strings.NewReader("http://10.0.0.9/canary.jpg\nadmin\n"+typed+"\n"), &out), options: setup.Options{Kinds: all.All()},
			memory: memory{typed: map[string]string{}, keys: map[string]bool{}},
			camera: func(o camera.Options) (bool, bool) {
				if o.URL != "http://10.0.0.9/canary.jpg" || o.Username != "admin" || o.Timeout == 0 {
					t.Errorf("asked for %+v", o)
				}
				return o.Password != "far", o.Password == "wrong"
			}}
		if err := w.askCamera(setupRoom{Space: setup.NewAnswers().Space("Atlas", "UTC"), name: "Atlas"}); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%q: %v\n%s", typed, err, out.String())
		}
	}
}
