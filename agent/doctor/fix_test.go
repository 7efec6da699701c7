package doctor

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/health"
	"roomgate/cloud"
	"roomgate/drivers"
	"roomgate/drivers/all"
)

// takesRoot finds commands that only root may give, or only with a word before them.
var takesRoot = regexp.MustCompile(`\b(systemctl (re|start|enable|daemon|edit)|chgrp |chmod |chown |usermod |udevadm |modprobe |tune2fs |mv |dmesg|journalctl|apt install|date -s|ss -|du -|` +
	`roomgate (setup|check-config|doctor|clock confirm|store|update( |$)|claim( --release| shows)|backup|restore|tls init|webhook|events))`)

// TestFixesHaveSudo: whatever a fix tells to type can be typed by who is not root.
func TestFixesHaveSudo(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(l.Value)
			for _, at := range takesRoot.FindAllStringIndex(text, -1) {
				if found++; !strings.HasSuffix(text[:at[0]], "sudo ") {
					t.Errorf("%s: %q has no sudo in %q", file, text[at[0]:at[1]], text)
				}
			}
			return true
		})
	}
	if found < 50 {
		t.Errorf("only %d commands were found", found)
	}
}

// TestTyped: who is root, has no sudo or looks at a demo types none.
func TestTyped(t *testing.T) {
	for want, o := range map[string]Options{
		"sudo a && sudo b": {Sudo: true},
		"a && b":           {},
	} {
		x := &examination{Options: o}
		if got := typed(x, []Finding{{Fix: "sudo a && sudo b"}})[0].Fix; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		x.Building = &Building{Identity: health.Identity{Simulated: true}}
		if got := typed(x, []Finding{{Fix: "sudo a && sudo b"}})[0].Fix; got != "a && b" {
			t.Errorf("in a demo %q", got)
		}
	}
}

// TestFilesOfThisMachine: a fix names the file that there is, and what can open it.
func TestFilesOfThisMachine(t *testing.T) {
	for file, want := range map[string]string{
		"boot/firmware/config.txt": "dtparam=spi=on on a line of its own in /boot/firmware/config.txt, then start this machine again",
		"boot/config.txt":          "dtparam=spi=on on a line of its own in /boot/config.txt, then start this machine again",
		"etc/passwd":               "on a Raspberry Pi dtparam=spi=on in config.txt",
	} {
		x := &examination{Options: Options{Root: tree(t, map[string]string{file: ""})}}
		if got := bootLine(x, "dtparam=spi=on"); got != want {
			t.Errorf("with %s: %q", file, got)
		}
	}
	for editor, want := range map[string]string{"usr/bin/nano": "/f (sudo nano /f)", "usr/bin/vi": "/f (sudo vi /f)", "usr/bin/ed": "/f"} {
		x := &examination{Options: Options{Root: tree(t, map[string]string{editor: ""})}}
		if got := opened(x, "/f"); got != want {
			t.Errorf("with %s: %q", editor, got)
		}
	}
}

// TestWrongLine: the place of the line that the board lacks is named, and the command.
func TestWrongLine(t *testing.T) {
	d := Device{"Bora", drivers.TypeLock, true, []device.Reading{{Record: device.Record{Device: "lock", Status: device.Offline},
		Reason: "relay GPIO71: line GPIO71: " + drivers.ErrNoLine.Error()}}}
	c, err := config.Parse("gateway.yaml", []byte("gateway: {id: a}\nspaces:\n  - id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01\n    name: Bora\n    devices:\n"+
		"      - {id: bora-lock, type: lock, driver: lock-relay, options: {relay: GPIO71}}\n"), all.All())
	if err != nil {
		t.Fatal(err)
	}
	x := &examination{Options: Options{Config: c, ConfigFile: "gateway.yaml", Service: Service{Loaded: true}, Building: &Building{Devices: []Device{d}}}}
	want := "name Bora in sudo roomgate setup and answer with the name of what it is wired to, or write it into gateway.yaml at line 6; then sudo systemctl restart roomgate"
	if f := devices(t.Context(), x)[0]; f.State != Fail || f.Fix != want {
		t.Errorf("%+v", f)
	}
	x.Building.Devices[0].Space = "Made at the console"
	if f := devices(t.Context(), x)[0]; !strings.HasPrefix(f.Fix, "remove the device from the console") {
		t.Errorf("%+v", f)
	}
	x.Config = nil
	if f := devices(t.Context(), x)[0]; !strings.HasSuffix(f.Fix, "into the configuration, then sudo systemctl restart roomgate") {
		t.Errorf("%+v", f)
	}
}

// TestRefusedLogin: user and file of the log-in at the cloud are named.
func TestRefusedLogin(t *testing.T) {
	met := &health.Trouble{Cause: string(cloud.CauseLogin), Seen: "the broker refuses the log-in", Fix: "check cloud.username"}
	c := config.Default()
	x := &examination{Options: Options{Config: &c, ConfigFile: "gateway.yaml", Service: Service{Loaded: true}, Building: &Building{}}}
	x.Building.CloudTrouble = met
	for file, want := range map[string]string{
		"${CREDENTIALS_DIRECTORY}/secret_cloud": "into /etc/roomgate/credentials/cloud (sudo tee /etc/roomgate/credentials/cloud: type it, then return, then control and D), then sudo systemctl restart roomgate",
		"/etc/cloud":                            "into /etc/cloud (sudo tee /etc/cloud: ",
		"":                                      "into gateway.yaml as cloud.password, then",
	} {
		c.Cloud.Username, c.Cloud.PasswordFile = "berlin-3", file
		for _, f := range x.troubled() {
			if !strings.HasPrefix(f.Fix, "see that the broker knows the user berlin-3 ") || !strings.Contains(f.Fix, want) {
				t.Errorf("with %q: %s", file, f.Fix)
			}
		}
	}
	c.Cloud.Username = "" // it was claimed
	if f := x.troubled()[0]; f.Fix != met.Fix {
		t.Error(f.Fix)
	}
}

// TestDemoOwesNothing: who tries a demo on his own machine is told of none of its faults.
func TestDemoOwesNothing(t *testing.T) {
	x := &examination{Options: Options{Root: t.TempDir(), ConfigError: fs.ErrNotExist, Building: &Building{Identity: health.Identity{Simulated: true}}}}
	if found := append(watchdog(t.Context(), x), configuration(t.Context(), x)...); Worst(found) != OK {
		t.Errorf("%+v", found)
	}
}

// TestFlagsInFixes: who named a configuration, or a data folder, is given commands that find it too.
func TestFlagsInFixes(t *testing.T) {
	x := &examination{Options: Options{Sudo: true, ConfigFlag: " --config /srv/a.yaml", DataFlag: " --data /srv/data"}}
	for fix, want := range map[string]string{
		"write one with sudo roomgate setup, or name it with --config": "write one with sudo roomgate setup --config /srv/a.yaml, or name it with --config",
		"sudo roomgate store confirm; then":                            "sudo roomgate store confirm --config /srv/a.yaml; then",
		"what sudo roomgate claim shows":                               "what sudo roomgate claim --data /srv/data shows",
		"sudo roomgate claim --release":                                "sudo roomgate claim --release --data /srv/data",
		"open the link that sudo roomgate space pair Atlas --qr":       "open the link that sudo roomgate space pair --data /srv/data Atlas --qr",
		"sudo roomgate check-config /srv/a.yaml":                       "sudo roomgate check-config /srv/a.yaml",
		"sudo systemctl restart roomgate":                              "sudo systemctl restart roomgate",
	} {
		if got := typed(x, []Finding{{Fix: fix}})[0].Fix; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	x.ConfigFlag = ""
	if got := typed(x, []Finding{{Fix: "sudo roomgate tls init, or sudo roomgate setup"}})[0].Fix; got != "sudo roomgate tls init --data /srv/data, or sudo roomgate setup" {
		t.Error(got)
	}
}

// TestUnreadableConfiguration: the fix is no command that was just given in vain.
func TestUnreadableConfiguration(t *testing.T) {
	for want, sudo := range map[string]bool{"run sudo roomgate doctor --config /srv/a.yaml, for ": true, "become root with su - and run roomgate doctor --config /srv/a.yaml there, for ": false} {
		x := &examination{Options: Options{Sudo: sudo, ConfigFile: "/srv/a.yaml", ConfigFlag: " --config /srv/a.yaml", ConfigError: fs.ErrPermission}}
		if f := typed(x, configuration(t.Context(), x))[0]; f.State != Fail || !strings.HasPrefix(f.Fix, want) {
			t.Errorf("%+v, want %q", f, want)
		}
	}
}

// TestDisplayWithoutPage: the command and the page of the display are named.
func TestDisplayWithoutPage(t *testing.T) {
	d := Device{"Big Atlas", drivers.TypeDisplay, true, []device.Reading{{Record: device.Record{Device: "meeting-room-display", Status: device.Offline}, Reason: "no page is open"}}}
	c := config.Default()
	c.Spaces = []config.Space{{ID: "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01", Name: "Big Atlas"}}
	x := &examination{Options: Options{Config: &c, Building: &Building{Devices: []Device{d}}}}
	f := devices(t.Context(), x)[0]
	if !strings.HasPrefix(f.Fix, "open the link that sudo roomgate space pair 'Big Atlas' --qr prints in the browser of the display") {
		t.Error(f.Fix)
	}
	if page := health.NetworkOf(&c).Page("/display/" + c.Spaces[0].ID); page != "" && !strings.Contains(f.Fix, page) {
		t.Errorf("%s, want %s", f.Fix, page)
	}
}
