package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"roomgate/agent/setup"
)

// typesSudo reports whether the reader types sudo before a command that takes root: not in a
// shell of root, and not on a machine without it.
func typesSudo() bool {
	if os.Getuid() == 0 {
		return os.Getenv("SUDO_USER") != ""
	}
	_, err := exec.LookPath("sudo")
	return err == nil
}

// denied is what this user may not open, with what to do.
type denied struct{ message string }

func (d *denied) Error() string { return d.message }

// Is lets it be what the system says of a file.
func (d *denied) Is(target error) bool { return target == fs.ErrPermission }

// mayNot says that a file, or a socket, may not be read, opened or the like.
func mayNot(code int, path, done string) error {
	return &fault{code, &denied{fmt.Sprintf("%s may not be %s: %s", path, done, asRoot(typesSudo()))}}
}

// asRoot is how somebody gives a command who is not root.
func asRoot(sudo bool) string {
	if sudo {
		return "put sudo in front of the command, or join the group that may, sudo usermod -aG roomgate $USER, and log in again"
	}
	return "become root with su - and give the command again"
}

// withMend adds to a permission error, on a file of the folder, the commands that mend it. No
// restart does.
func withMend(err error, folder string) error {
	var at *fs.PathError
	var told *denied
	switch {
	case !errors.As(err, &at) || errors.As(err, &told):
		return err
	case errors.Is(err, unix.ENOTDIR):
		return fail(exitConfig, "%w: %s is a file: name a folder with --data", err, at.Path)
	case errors.Is(err, unix.EROFS) && os.Getenv("INVOCATION_ID") != "": // of systemd.exec(5)
		return fail(exitConfig, "%w: the service writes nothing outside /var/lib/roomgate: remove data from the configuration, or allow it by ReadWritePaths in systemctl edit roomgate", err)
	case !errors.Is(err, fs.ErrPermission):
		return err
	}
	me, group := nameOfUser(os.Geteuid()), nameOfGroup(os.Getegid())
	if shut := shutAbove(at.Path); shut != "" && shut != filepath.Clean(folder) {
		return fail(exitConfig, "%w: %s may not enter %s: %s, or choose another folder with --data", err, me, shut, enter(group, shut))
	}
	folder = setup.ShellWord(folder)
	if _, missing := os.Stat(at.Path); at.Op == "mkdir" && missing != nil {
		return fail(exitConfig, "%w: make the folder, %s, or choose another with --data", err, sudo("install -d -m 700 -o "+me+" "+folder))
	}
	return fail(exitConfig, "%w: give %s to the user of the gateway, %s, or choose another folder with --data", err, folder, sudo("chown -R "+me+": "+folder, "chmod -R u+rwX "+folder))
}

// enter lets a group enter a folder.
func enter(group, folder string) string {
	folder = setup.ShellWord(folder)
	return sudo("chgrp "+group+" "+folder, "chmod g+x "+folder)
}

// shutAbove is the uppermost folder above a path that this process may not enter, empty: none.
func shutAbove(path string) (shut string) {
	path, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if errors.Is(unix.Access(dir, unix.X_OK), unix.EACCES) {
			shut = dir
		}
		if dir == filepath.Dir(dir) {
			return shut
		}
	}
}

func nameOfUser(id int) string {
	if u, err := user.LookupId(strconv.Itoa(id)); err == nil {
		return u.Username
	}
	return strconv.Itoa(id)
}

func nameOfGroup(id int) string {
	if g, err := user.LookupGroupId(strconv.Itoa(id)); err == nil {
		return g.Name
	}
	return strconv.Itoa(id)
}
