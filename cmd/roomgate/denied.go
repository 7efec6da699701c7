package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
)

// typesSudo says whether who reads what to do has to put sudo before what takes root: not
// in a shell of root, and not on a machine without it.
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
func mayNot(code int, path, be string) error {
	return &fault{code, &denied{fmt.Sprintf("%s may not be %s: %s", path, be, asRoot(typesSudo()))}}
}

// asRoot is how somebody gives a command who is not root.
func asRoot(sudo bool) string {
	if sudo {
		return "put sudo in front of the command, or join the group that may, sudo usermod -aG roomgate $USER, and log in again"
	}
	return "become root with su - and give the command again"
}
