package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"roomgate/agent/atomicfile"
	"roomgate/store"
)

// The folder of a restore in a data folder:
//
//	restore/new/        what is to come: database, device secret, authority
//	restore/old/        what was there, moved aside
//	restore/plan.json   the restore is prepared: from now on Recover decides
//	restore/committed   the restore is to be finished
//	before-restore/     restore/old of the last restore that ended well; tls.none in it:
//	                    no authority was there
//
// One rename decides between the old and the new: that of the configuration
// file if it changes, because it may lie in a folder that the gateway itself
// may not write to and so cannot be finished by it; else that of committed.
// Before, Recover leaves everything as it was. After, it moves the files to
// their places, which it can do again and again.
const (
	restoreDir = "restore"
	newDir     = "new"
	oldDir     = "old"
	planName   = "plan.json"
	markName   = "committed"
	// BeforeName is the folder in the data folder with what was there before
	// the last restore.
	BeforeName = "before-restore"
	// PlaceName is the file in it that says where the configuration was.
	PlaceName = planName
	// NoteName is the note of the last backup in the data folder.
	NoteName = "last-backup.json"
)

// Plan is a restore that is under way.
type Plan struct {
	Data   string   `json:"-"`                       // the data folder
	Config string   `json:"config,omitempty"`        // the configuration file; it is replaced if Hash is set
	Hash   string   `json:"config_sha256,omitempty"` // of the new configuration
	New    []string `json:"new"`                     // the files to come
	// NoAuthority says that the gateway to come has no authority of its own, and that the one which is there goes.
	NoAuthority bool `json:"no_authority,omitempty"`

	text []byte // the new configuration

	step func(string) error // in tests, what happens before each step
}

// Prepare begins a restore: it returns a plan and the folder for the new
// files. It first clears what an earlier one left half made; Recover has
// been called.
func Prepare(data string) (p *Plan, dir string, err error) {
	root := filepath.Join(data, restoreDir)
	dir = filepath.Join(root, newDir)
	err = os.RemoveAll(root)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	return &Plan{Data: data}, dir, err
}

// Abandon clears what was prepared and not committed.
func (p *Plan) Abandon() error { return os.RemoveAll(p.path(restoreDir)) }

// Configuration says that the file at path shall have this text.
func (p *Plan) Configuration(path string, text []byte) {
	p.Config, p.text = path, text
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return
	}
	sum := sha256.Sum256(text)
	p.Hash = hex.EncodeToString(sum[:])
}

// Commit puts the new files in the places of the old ones, which go to
// BeforeName. If it fails, or the power does, Recover brings either the whole
// of the old back or the whole of the new.
func (p *Plan) Commit() error {
	for _, s := range []struct {
		name string
		do   func() error
	}{
		{"sync", p.syncNew},
		{"keep the configuration", p.keepConfiguration},
		{"plan", p.write},
		{"configuration", p.replaceConfiguration},
		{"commit", func() error { return atomicfile.Write(p.path(restoreDir, markName), nil, nil) }},
	} {
		if err := p.do(s.name, s.do); err != nil {
			return err
		}
	}
	return p.forward()
}

func (p *Plan) do(name string, f func() error) error {
	if p.step != nil {
		if err := p.step(name); err != nil {
			return err
		}
	}
	if err := f(); err != nil {
		return fmt.Errorf("restore, %s: %w", name, err)
	}
	return nil
}

func (p *Plan) path(parts ...string) string {
	return filepath.Join(append([]string{p.Data}, parts...)...)
}

// syncNew makes the new files the data folder's owner's and durable.
func (p *Plan) syncNew() error {
	dir := p.path(restoreDir, newDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		p.New = append(p.New, e.Name())
	}
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, GiveTo(path, p.Data), atomicfile.Sync(path))
	})
	return errors.Join(err, GiveTo(p.path(restoreDir), p.Data), atomicfile.Sync(p.path(restoreDir)))
}

// keepConfiguration copies the old configuration to what is kept.
func (p *Plan) keepConfiguration() error {
	old := p.path(restoreDir, oldDir)
	if err := os.MkdirAll(old, 0o700); err != nil {
		return err
	}
	if p.Config == "" {
		return nil
	}
	err := atomicfile.Write(filepath.Join(old, planName), []byte(fmt.Sprintf("{\"config\":%q}\n", p.Config)), nil)
	text, e := os.ReadFile(p.Config)
	if errors.Is(e, fs.ErrNotExist) {
		return err
	}
	if err = errors.Join(err, e); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(old, ConfigName), text, nil)
}

func (p *Plan) write() error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return atomicfile.Write(p.path(restoreDir, planName), raw, nil)
}

func (p *Plan) replaceConfiguration() error {
	if p.Hash == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(p.Config), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(p.Config, p.text, func(f *os.File) error { return like(f, p.Config, p.Data) })
}

// Recover finishes a restore of the data folder that was interrupted, or
// clears it away if it had not come far enough; done says that it was finished.
// The caller holds the locks of the folder.
func Recover(data string) (done bool, err error) { return recoverPlan(&Plan{Data: data}) }

func recoverPlan(p *Plan) (done bool, err error) {
	raw, err := os.ReadFile(p.path(restoreDir, planName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, os.RemoveAll(p.path(restoreDir))
	}
	if err == nil {
		err = json.Unmarshal(raw, p)
	}
	if err != nil {
		return false, fmt.Errorf("an interrupted restore cannot be finished: %w", err)
	}
	if !p.committed() {
		return false, os.RemoveAll(p.path(restoreDir))
	}
	return true, p.forward()
}

// committed says on which side of the one rename that decides we are.
func (p *Plan) committed() bool {
	if _, err := os.Lstat(p.path(restoreDir, markName)); err == nil {
		return true
	}
	text, err := os.ReadFile(p.Config)
	sum := sha256.Sum256(text)
	return p.Hash != "" && err == nil && hex.EncodeToString(sum[:]) == p.Hash
}

// forward moves the files. Each step may be repeated.
func (p *Plan) forward() error {
	for _, s := range []struct {
		name string
		do   func() error
	}{{"aside", p.aside}, {"into place", p.intoPlace}, {"keep", p.keepOld}, {"clear", p.clear}} {
		if err := p.do(s.name, s.do); err != nil {
			return err
		}
	}
	return nil
}

// aside moves what belongs to the old gateway away, snapshots included: the
// store would restore one of them, should the new database ever be damaged.
func (p *Plan) aside() error {
	if _, err := os.Lstat(p.path(restoreDir, oldDir)); errors.Is(err, fs.ErrNotExist) {
		return nil // it is kept already
	}
	old, err := Belongings(p.Data)
	if err != nil {
		return err
	}
	for _, path := range p.withAuthority(old) {
		name := filepath.Base(path)
		if _, err := os.Lstat(p.path(restoreDir, newDir, name)); errors.Is(err, fs.ErrNotExist) && slices.Contains(p.New, name) {
			continue // it is the new one already
		}
		if err := p.do("aside "+name, func() error { return os.Rename(path, p.path(restoreDir, oldDir, name)) }); err != nil {
			return err
		}
	}
	return errors.Join(p.markAuthority(), atomicfile.Sync(p.path(restoreDir, oldDir)), atomicfile.Sync(p.Data))
}

func (p *Plan) intoPlace() error {
	entries, err := os.ReadDir(p.path(restoreDir, newDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if err == nil {
			err = p.do("into place "+e.Name(), func() error {
				return os.Rename(p.path(restoreDir, newDir, e.Name()), p.path(e.Name()))
			})
		}
	}
	return errors.Join(err, atomicfile.Sync(p.Data))
}

// keepOld makes what was there what can be brought back.
func (p *Plan) keepOld() error {
	if _, err := os.Lstat(p.path(restoreDir, oldDir)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := os.RemoveAll(p.path(BeforeName))
	if err == nil {
		err = p.do("rename", func() error { return os.Rename(p.path(restoreDir, oldDir), p.path(BeforeName)) })
	}
	return errors.Join(err, atomicfile.Sync(p.Data))
}

// clear removes the plan first: without it nothing is under way.
func (p *Plan) clear() error {
	if err := os.Remove(p.path(restoreDir, planName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(atomicfile.Sync(p.path(restoreDir)), os.RemoveAll(p.path(restoreDir)), atomicfile.Sync(p.Data))
}

// Belongings lists the files in a data folder that are one gateway's: the
// database with its snapshots, the device secret with the hardware that it was
// made on, the note of the last backup.
func Belongings(data string) ([]string, error) {
	found, err := store.Files(filepath.Join(data, DatabaseName))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{SecretName, BoardName, NoteName} {
		if _, err := os.Lstat(filepath.Join(data, name)); err == nil {
			found = append(found, filepath.Join(data, name))
		}
	}
	return found, nil
}
