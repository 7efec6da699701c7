package backup

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"roomgate/agent/atomicfile"
)

// The folders in a backup of files that the configuration names.
const (
	filesFolder      = "files/"       // from below the configuration's folder
	credentialFolder = "credentials/" // below it, which systemd hands over from
)

// Bounds of them.
const (
	maxNamed     = 48
	maxNamedSize = 256 << 10 // bytes
)

// handed begins the name of a file that systemd hands over.
const handed = "${CREDENTIALS_DIRECTORY}/secret_"

// Named is what a configuration names by path: certificates, passwords.
type Named struct {
	Files []Source
	Left  []string // names of files that do not go into a backup
}

// CollectNamed reads the files of those names that lie in the folder of the
// configuration or are credentials, each of at most 256 kB and 48 in all. What
// lies elsewhere is the machine's, and what cannot be read is left. service is a
// folder of the user that the gateway runs as.
func CollectNamed(names []string, folder, service string) (n Named) {
	for _, name := range names {
		s, ok := collect(name, folder, service)
		switch {
		case !ok, len(n.Files) == maxNamed:
			n.Left = append(n.Left, name)
		case !n.has(s.Name):
			n.Files = append(n.Files, s)
		}
	}
	return n
}

func (n *Named) has(name string) bool {
	for _, s := range n.Files {
		if s.Name == name {
			return true
		}
	}
	return false
}

func collect(name, folder, service string) (s Source, ok bool) {
	if folder == "" {
		return s, false
	}
	if secret, is := strings.CutPrefix(name, handed); is {
		s.Name = credentialFolder + secret
		for _, path := range []string{os.Getenv("CREDENTIALS_DIRECTORY") + "/secret_" + secret, filepath.Join(folder, credentialFolder, secret)} {
			if s.ReadSeeker, ok = small(path); ok {
				s.Mode = 0o600
				return s, validName(s.Name)
			}
		}
		return s, false
	}
	path, e := filepath.Abs(name)
	real, err := filepath.EvalSymlinks(path)
	root, e2 := filepath.EvalSymlinks(folder)
	if errors.Join(e, err, e2) != nil || !below(root, real) {
		return s, false
	}
	local, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(local) {
		return s, false
	}
	s.Name = filesFolder + local
	if strings.HasPrefix(local, credentialFolder) {
		s.Name = local
	}
	uid, _, mode, known := owner(path)
	who, _, _, _ := owner(service)
	s.Mode, s.Service = mode, known && uid == who && uid != 0
	s.ReadSeeker, ok = small(path)
	return s, ok && known && validName(s.Name)
}

// below says whether a path is in a folder; both are without links.
func below(folder, path string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}

// small reads a file that is one and is not large.
func small(path string) (io.ReadSeeker, bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold us up
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxNamedSize+1))
	return bytes.NewReader(data), err == nil && len(data) <= maxNamedSize
}

// validName says whether a file of that name may be in one of the two folders.
func validName(name string) bool {
	for _, folder := range []string{filesFolder, credentialFolder} {
		if rest, ok := strings.CutPrefix(name, folder); ok {
			return fs.ValidPath(rest) && rest != "." && len(name) <= 255
		}
	}
	return false
}

// Places is where the named files of a backup go.
type Places struct {
	Folder  string // of the configuration
	Service string // a folder of the user that the gateway runs as
}

// Path is where a named file of a backup goes; empty: it is none.
func (p Places) Path(name string) string {
	if !validName(name) {
		return ""
	}
	return filepath.Join(p.Folder, strings.TrimPrefix(name, filesFolder))
}

// Put puts the named files to their places, with mode and owner. A file that is there
// already stays as it is: a machine's newer certificate is better than that of a
// backup. kept are the paths of those that differ.
func (p Places) Put(o *Opened) (put, kept []string, err error) {
	for _, f := range o.Files {
		path := p.Path(f.Name)
		if path == "" {
			continue
		}
		old, e := os.ReadFile(path)
		switch {
		case e == nil && bytes.Equal(old, o.Small[f.Name]):
			continue
		case e == nil:
			kept = append(kept, path)
			continue
		case !errors.Is(e, fs.ErrNotExist):
			return put, kept, e
		}
		if err := p.put(f, path, o.Small[f.Name]); err != nil {
			return put, kept, err
		}
		put = append(put, path)
	}
	return put, kept, nil
}

func (p Places) put(f File, path string, data []byte) error {
	credential := strings.HasPrefix(f.Name, credentialFolder)
	uid, gid, _, ok := owner(p.Service)
	ok = ok && os.Getuid() == 0
	if err := p.folders(filepath.Dir(path), credential, gid, ok); err != nil {
		return err
	}
	return atomicfile.Write(path, data, func(file *os.File) error {
		err := file.Chmod(f.Mode.Perm())
		switch {
		case !ok:
		case credential:
			err = errors.Join(err, file.Chown(0, 0))
		case f.Service:
			err = errors.Join(err, file.Chown(uid, gid))
		default:
			err = errors.Join(err, file.Chown(0, gid))
		}
		return err
	})
}

// folders makes what is missing above a file, for root alone or for the service's
// group too.
func (p Places) folders(dir string, credential bool, gid int, own bool) error {
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := p.folders(filepath.Dir(dir), credential, gid, own); err != nil {
		return err
	}
	mode := os.FileMode(0o750)
	if credential && dir != p.Folder {
		mode, gid = 0o700, 0
	}
	if err := os.Mkdir(dir, mode); err != nil || !own || !below(p.Folder, dir) {
		return err
	}
	return os.Chown(dir, 0, gid)
}
