package backup

import (
	"errors"
	"os"
	"syscall"
)

// owner is whose a file is.
func owner(path string) (uid, gid int, mode os.FileMode, ok bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, 0, false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0, false
	}
	return int(s.Uid), int(s.Gid), info.Mode().Perm(), true
}

// GiveTo makes a file the owner's of the folder, which matters when root
// restores what a service runs with.
func GiveTo(path, folder string) error {
	uid, gid, _, ok := owner(folder)
	if !ok || os.Getuid() != 0 {
		return nil
	}
	return os.Lchown(path, uid, gid)
}

// like gives a new file the owner and the mode of the one that it replaces. A
// configuration that was not there is root's, and readable to the group of the
// data folder, as the package makes it.
func like(f *os.File, path, folder string) error {
	if uid, gid, mode, ok := owner(path); ok {
		err := f.Chmod(mode)
		if os.Getuid() == 0 {
			err = errors.Join(err, f.Chown(uid, gid))
		}
		return err
	}
	err := f.Chmod(0o640)
	if _, gid, _, ok := owner(folder); ok && os.Getuid() == 0 {
		err = errors.Join(err, f.Chown(0, gid))
	}
	return err
}
