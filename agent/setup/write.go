package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write does what was planned: the credentials first, each in a new file, then
// the configuration before as FILE.before, then the new one in its place. A
// power cut leaves the old configuration or the new one, whole, each with its
// credentials. The configuration stays whose it was; a new one is readable to
// the group, -1: to that of the process. Credentials are the process's alone.
func (p *Plan) Write(group int) error {
	if err := p.writeCredentials(); err != nil {
		return err
	}
	if string(p.Before) == string(p.After) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(p.File), 0o750); err != nil {
		return err
	}
	like := owned{0o640, -1, group}
	if info, err := os.Stat(p.File); err == nil {
		s := info.Sys().(*syscall.Stat_t)
		like = owned{info.Mode().Perm(), int(s.Uid), int(s.Gid)}
	}
	if p.Before != nil {
		if err := whole(p.File+".before", p.Before, like); err != nil {
			return fmt.Errorf("keep the configuration before: %w", err)
		}
	}
	if err := whole(p.File, p.After, like); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}

func (p *Plan) writeCredentials() error {
	for _, c := range p.Credentials {
		if err := os.MkdirAll(filepath.Dir(c.Name), 0o700); err != nil {
			return fmt.Errorf("make the folder of credentials: %w", err)
		}
		if err := whole(c.Name, []byte(c.Value+"\n"), owned{0o600, -1, -1}); err != nil {
			return fmt.Errorf("write credential: %w", err)
		}
	}
	return nil
}

// owned is a file's mode and owner.
type owned struct {
	mode        fs.FileMode
	user, group int
}

// chown gives a file away if this process may: who is not root keeps it.
func chown(path string, user, group int) error {
	if os.Geteuid() != 0 || user < 0 && group < 0 {
		return nil
	}
	return os.Chown(path, user, group)
}

// whole writes a file that is there whole or not at all, also after a power
// cut.
func whole(path string, data []byte, o owned) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, chown(f.Name(), o.user, o.group), f.Chmod(o.mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
