package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"roomgate/agent/config"
	"roomgate/agent/health"
	"roomgate/agent/machineuser"
	"roomgate/cloud"
	"roomgate/drivers/all"
)

// closedRoom is a folder credentials that only its owner may enter, with a password in it, below one that
// everybody may enter; and an examination by the user roomgate of the group house.
func closedRoom(t *testing.T) (x *examination, dir, file string) {
	t.Helper()
	above := t.TempDir()
	dir = filepath.Join(above, "credentials")
	file = filepath.Join(dir, "cloud")
	err := errors.Join(os.Chmod(filepath.Dir(above), 0o711), os.Chmod(above, 0o711), os.Mkdir(dir, 0o700), os.WriteFile(file, []byte("secret"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Cloud.PasswordFile = file
	return &examination{Options: Options{Root: "/", Config: &c, ConfigFile: "gateway.yaml", Service: Service{Loaded: true}},
		user: user{User: machineuser.User{Name: "roomgate", ID: 99998, Group: os.Getgid(), Groups: []int{os.Getgid()}}}}, dir, file
}

// TestShutFolder: a password, a certificate and a key that lie in a folder which the gateway's user may not
// enter are no good ones, and one fix is enough for the file and the folder.
func TestShutFolder(t *testing.T) {
	x, dir, file := closedRoom(t)
	group := x.machineUsers().GroupName(os.Getgid())
	f := passwords(t.Context(), x)[0]
	f.is(t, "both", Fail, file+" (-rw-------) may not be read by roomgate, as which the gateway runs; "+dir+" (drwx------) may not be entered by roomgate")
	want := "sudo chgrp " + group + " " + file + " && sudo chmod 640 " + file + " && sudo chgrp " + group + " " + dir + " && sudo chmod g+x " + dir + ", then sudo systemctl restart roomgate"
	if f.Fix != want {
		t.Errorf("the fix is %q\nwant %q", f.Fix, want)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	passwords(t.Context(), x)[0].is(t, "the folder alone", Fail, dir+" (drwx------) may not be entered by roomgate")
	_, certificate := x.leaf("certificate http.tls", file)
	certificate.is(t, "a certificate", Fail, "may not be entered by roomgate")
	key, _ := x.keyFile("certificate http.tls", "", file)
	key.is(t, "a key", Fail, "may not be entered by roomgate")
	if err := os.Chmod(dir, 0o710); err != nil {
		t.Fatal(err)
	}
	passwords(t.Context(), x)[0].is(t, "mended", OK, file)
}

// TestShutFileOfDevice: the password of a device is looked at as that of the cloud is.
func TestShutFileOfDevice(t *testing.T) {
	x, _, file := closedRoom(t)
	c, err := config.Parse("gateway.yaml", []byte("gateway: {id: a}\nspaces:\n  - id: 5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1e01\n    name: Atlas\n    devices:\n"+
		"      - {id: atlas-o3, type: o3-sensor, driver: o3-mqtt, options: {address: \"10.0.0.31:1883\", password_file: "+file+"}}\n"), all.All())
	if err != nil {
		t.Fatal(err)
	}
	x.Config = c
	found := passwords(t.Context(), x)
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	found[0].is(t, "a hub", Fail, "may not be read by roomgate")
}

// TestRelativeConfiguration: a configuration that is named from where one stands is looked at too.
func TestRelativeConfiguration(t *testing.T) {
	x, dir, _ := closedRoom(t)
	t.Chdir(dir)
	x.ConfigFile = "cloud"
	configuration(t.Context(), x)[0].is(t, "the file", Fail, filepath.Join(dir, "cloud")+" (-rw-------) may not be read by roomgate")
	if err := os.Chmod("cloud", 0o644); err != nil {
		t.Fatal(err)
	}
	configuration(t.Context(), x)[0].is(t, "its folder", Fail, dir+" (drwx------) may not be entered by roomgate")
}

// TestCorrectedAndNotStarted: a log-in that the running gateway was refused is not corrected once more where
// its configuration has changed since.
func TestCorrectedAndNotStarted(t *testing.T) {
	c := config.Default()
	c.Cloud.Username = "berlin-3"
	x := &examination{Options: Options{Config: &c, ConfigFile: "gateway.yaml", Service: Service{Loaded: true}, Building: &Building{}}}
	for _, cause := range []cloud.Cause{cloud.CauseLogin, cloud.CauseMisconfigured} {
		x.Building.CloudTrouble = &health.Trouble{Cause: string(cause), Seen: "the broker refuses the log-in", Fix: "check cloud.username"}
		x.Building.Pending = nil
		if f := x.troubled()[0]; strings.HasPrefix(f.Fix, "sudo systemctl restart") {
			t.Errorf("%s, unchanged: %+v", cause, f)
		}
		x.Building.Pending = &Pending{Changed: true, Restart: "cloud.password"}
		f := x.troubled()[0]
		f.is(t, string(cause), Fail, "; it runs with the configuration of before")
		if f.Fix != "sudo systemctl restart roomgate" {
			t.Errorf("%s: the fix is %q", cause, f.Fix)
		}
	}
}
