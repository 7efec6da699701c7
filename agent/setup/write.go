package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"roomgate/agent/atomicfile"
)

// Write does what was planned: the credentials first, each in a new file, then
// the configuration before as FILE.before, then the new one in its place. A
// power cut leaves the old configuration or the new one, whole, each with its
// credentials. The configuration stays whose it was; a new one is readable to
// the group, -1: to that of the process. Credentials are the process's alone.
func (p *Plan) Write(group int) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, p.takeBack())
		}
	}()
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
		if err := atomicfile.Write(p.File+".before", p.Before, like.give); err != nil {
			return fmt.Errorf("keep the configuration before: %w", err)
		}
	}
	if err := atomicfile.Write(p.File, p.After, like.give); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}

// takeBack removes the credentials of a configuration that did not come to be, as
// on a full disk.
func (p *Plan) takeBack() (err error) {
	if now, e := os.ReadFile(p.File); e == nil && string(now) == string(p.After) {
		return nil
	}
	for _, c := range p.Credentials {
		if e := os.Remove(c.Name); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func (p *Plan) writeCredentials() error {
	for _, c := range p.Credentials {
		if err := os.MkdirAll(filepath.Dir(c.Name), 0o700); err != nil {
			return fmt.Errorf("make the folder of credentials: %w", err)
		}
		if err := atomicfile.Write(c.Name, []byte(c.Value+"\n"), nil); err != nil {
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

// give makes a new file so, as far as this process may: who is not root keeps it.
func (o owned) give(f *os.File) error {
	err := f.Chmod(o.mode)
	if os.Geteuid() == 0 && (o.user >= 0 || o.group >= 0) {
		err = errors.Join(err, f.Chown(o.user, o.group))
	}
	return err
}
