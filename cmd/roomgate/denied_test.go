package main

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Who may not read the configuration is told how to, and not that it is wrong or not there.
func TestUnreadableConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte("gateway: {id: g}\n"), 0); err != nil {
		t.Fatal(err)
	}
	shut := filepath.Dir(filepath.Dir(file)) // of the one who tests
	wants := map[string]string{"check-config": " may not be read, because " + shut + " may not be entered: ", "run": "nobody, as which the gateway runs, may not enter " + shut + ": "}
	if os.Getuid() != 0 { // who becomes nobody else
		wants = map[string]string{"check-config": " may not be read: ", "run": "chmod 640 " + file}
	}
	for name, want := range wants {
		cmd, _, err := newRoot().Find([]string{name})
		if err == nil {
			err = cmd.Flags().Set("config", file)
		}
		if err != nil {
			t.Fatal(err)
		}
		var coded *fault
		if err := asNobody(func() error { _, err := loadConfig(cmd); return err }); !errors.As(err, &coded) || coded.code != exitConfig || !strings.Contains(err.Error(), want) {
			t.Errorf("%s says %v", name, err)
		}
	}
	if err := mayNot(exitUnreachable, "/run/roomgate/control.sock", "opened"); !errors.Is(err, fs.ErrPermission) {
		t.Error("it is not known as what it is")
	}
	for sudo, want := range map[bool]string{true: "put sudo in front ", false: "become root with su - "} {
		if got := asRoot(sudo); !strings.HasPrefix(got, want) {
			t.Errorf("with sudo %v: %s", sudo, got)
		}
	}
}

// Who names a file as the data folder is told so.
func TestDataFolderThatIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "data")} {
		var coded *fault
		if _, err := lockDirectory(dir); !errors.As(err, &coded) || coded.code != exitConfig || !strings.HasSuffix(err.Error(), ": "+file+" is a file: name a folder with --data") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// asNobody does something as a user without rights.
func asNobody(do func() error) error {
	seen := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its user
		_, _, _ = syscall.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534)
		seen <- do()
	}()
	return <-seen
}

// TestDataFolderOfOthers: who may not use a data folder, a file in it or a folder above it, is told
// the command that lets him.
func TestDataFolderOfOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root becomes another user")
	}
	top := shortDir(t)
	if err := errors.Join(os.Chmod(top, 0o755), os.Mkdir(top+"/data", 0o700), os.Mkdir(top+"/shut", 0o700), os.Mkdir(top+"/shut/data", 0o777)); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		top + "/data":      "give " + top + "/data to the user of the gateway, chown -R nobody: " + top + "/data && chmod -R u+rwX " + top + "/data, or choose another folder with --data",
		top + "/new":       "make the folder, install -d -m 700 -o nobody " + top + "/new, or choose another with --data",
		top + "/shut/data": "nobody may not enter " + top + "/shut: chgrp root " + top + "/shut && chmod g+x " + top + "/shut, or choose another folder with --data",
	} {
		err := asNobody(func() error { _, err := lockDirectory(dir); return err })
		var coded *fault
		if !errors.As(err, &coded) || coded.code != exitConfig || !errors.Is(err, fs.ErrPermission) || !strings.HasSuffix(strings.ReplaceAll(err.Error(), "sudo ", ""), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := withMend(errors.New("another"), top); err.Error() != "another" {
		t.Error(err)
	}
}

// A newcomer gets the whole line that starts the demo elsewhere.
func TestTakenAddresses(t *testing.T) {
	for want, c := range map[string]struct{ taken, others []string }{
		"an address is in use: room broker 127.0.0.1:1883: stop what listens there, or let the system choose another: bin/roomgate demo --broker 127.0.0.1:0": {
			[]string{"room broker 127.0.0.1:1883"}, []string{"--broker 127.0.0.1:0"}},
		"addresses are in use: a, b: stop what listens there, or let the system choose others, with a folder for a second demo: bin/roomgate demo --x --y --data demo2": {
			[]string{"a", "b"}, []string{"--x", "--y"}},
	} {
		if got := inUse("bin/roomgate", c.taken, c.others); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A demo looks only at what it will open: with a cloud elsewhere there is no stand-in, and a
// configuration has addresses of its own.
func TestTakenAddressesAreThoseOfTheDemo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	free := []string{"--listen", "127.0.0.1:0", "--broker", "127.0.0.1:0"}
	for name, c := range map[string]struct {
		flags   []string
		refused bool
	}{
		"two are taken":              {[]string{"--listen", l.Addr().String(), "--broker", l.Addr().String(), "--cloud-listen", "127.0.0.1:0"}, true},
		"one that somebody chose":    {[]string{"--listen", l.Addr().String(), "--broker", "127.0.0.1:0", "--cloud-listen", "127.0.0.1:0"}, false},
		"with a cloud elsewhere":     {append([]string{"--cloud", "mqtt://127.0.0.1:1", "--cloud-listen", l.Addr().String()}, free...), false},
		"with another configuration": {[]string{"--config", "own.yaml", "--cloud-listen", "127.0.0.1:0"}, false},
	} {
		cmd := newDemo()
		if err := cmd.ParseFlags(c.flags); err != nil {
			t.Fatal(err)
		}
		if err := takenAddresses(cmd); (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
