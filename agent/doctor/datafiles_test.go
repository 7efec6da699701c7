package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"roomgate/agent/config"
	"roomgate/agent/machineuser"
	"roomgate/agent/update"
	"roomgate/drivers/all"
)

// TestFilesOfTheDataFolder: each file that the gateway opens is looked at with the rights of its
// user, and the fix gives it to him. Other files are none of its business.
func TestFilesOfTheDataFolder(t *testing.T) {
	c := config.Default()
	c.Data = t.TempDir()
	x := &examination{Options: Options{Root: t.TempDir(), Config: &c}, user: user{User: machineuser.User{Name: "roomgate", ID: 4711}}}
	write := func(name string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(c.Data, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := os.Chmod(c.Data, 0o777); err != nil {
		t.Fatal(err)
	}
	write("device.secret.before", 0o600)
	write("report-of-somebody.html", 0o600)
	dataFolder(t.Context(), x)[0].is(t, "files of others", Warn, "is open to everybody")
	for name, want := range map[string]string{"device.secret": "be read by", "device.secret.board": "be read by", "roomgate.db": "be read and written", "roomgate.db.lock": "be read and written",
		"control.lock": "be read and written", "roomgate.db.snapshot-000001": "be read by", "tls/authority.pem": "be read by", "last-backup.json": "be read by", update.Dir + "/state.json": "be read by"} {
		path := write(name, 0o600)
		if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		f := dataFolder(t.Context(), x)[0]
		f.is(t, name, Fail, path+" (-rw-------, owner ")
		f.is(t, name, Fail, want)
		if f.Fix != "sudo chown roomgate: "+path+", then start the gateway again" {
			t.Errorf("%s: %s", name, f.Fix)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"roomgate.db", "roomgate.db.lock", "control.lock", "device.secret"} {
		write(name, 0o600)
	}
	f := dataFolder(t.Context(), x)[0]
	f.is(t, "many", Fail, "; nor may 3 other files")
	if !strings.HasPrefix(f.Fix, "sudo chown -R roomgate: "+c.Data+", then ") {
		t.Error(f.Fix)
	}
	write("roomgate.db", 0o400)
	x.user.ID = os.Getuid()
	x.user.Name = x.machineUsers().NameOf(os.Getuid())
	if x.user.ID == 0 {
		return // root may everything
	}
	if f := dataFolder(t.Context(), x)[0]; !strings.HasPrefix(f.Fix, "sudo chmod u+rwX "+filepath.Join(c.Data, "roomgate.db")) {
		t.Errorf("%+v", f)
	}
}

// TestPlaceOfTheDataFolder: a folder that cannot be made, or that the service manager shuts.
func TestPlaceOfTheDataFolder(t *testing.T) {
	c := config.Default()
	above := t.TempDir()
	c.Data = filepath.Join(above, "data")
	x := &examination{Options: Options{Root: t.TempDir(), Config: &c, ConfigFile: "gateway.yaml"}, user: user{User: machineuser.User{Name: "roomgate", ID: 4711}}}
	f := dataFolder(t.Context(), x)[0]
	f.is(t, "no right above", Fail, above+" (drwx")
	if want := "sudo install -d -m 700 -o roomgate " + c.Data; !strings.HasPrefix(f.Fix, want) {
		t.Errorf("%q, want %q", f.Fix, want)
	}
	named, err := config.Parse("gateway.yaml", []byte("gateway: {id: a}\ndata: "+c.Data+"\n"), all.All())
	if err != nil {
		t.Fatal(err)
	}
	x.Service = ParseService(shown("active", "running", "0", "0") + "ProtectSystem=strict\nReadWritePaths=/sys/devices -/srv/rooms\nStateDirectory=roomgate\n")
	dataFolder(t.Context(), x)[0].is(t, "of a flag", Fail, "may not be written by roomgate")
	x.Config = named
	f = dataFolder(t.Context(), x)[0]
	f.is(t, "outside", Fail, "the service may not write "+c.Data)
	if !strings.Contains(f.Fix, "ReadWritePaths="+c.Data) {
		t.Error(f.Fix)
	}
	for dir, shut := range map[string]bool{"/var/lib/roomgate": false, "/var/lib/roomgate/a": false, "/var/lib/roomgate2": true, "/srv/rooms": false, "/sys": true} {
		if x.Service.shuts(dir) != shut {
			t.Errorf("%s is shut: %v", dir, !shut)
		}
	}
}

// TestOwnerOfTheData: root asks for the gateway of another user.
func TestOwnerOfTheData(t *testing.T) {
	c := config.Default()
	c.Data = t.TempDir()
	x := &examination{Options: Options{Root: tree(t, pi), Config: &c, ConfigFlag: " --config a.yaml", IsRoot: true}}
	if err := os.Chown(c.Data, 998, 997); err != nil {
		t.Skip("only root gives a folder away")
	}
	if u := x.findUser(); u.Name != "roomgate" || u.why != "the owner of the data folder" {
		t.Errorf("%+v", u)
	}
	x.IsRoot = false
	if u := x.findUser(); !u.self {
		t.Errorf("%+v", u)
	}
}
