package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"roomgate/agent/atomicfile"
	"roomgate/agent/tlsauthority"
)

// The building's own authority is in a backup under these names: phones and displays that trust its root go on with a new card.
const authorityPrefix = tlsauthority.Dir + "."

var authorityFiles = []string{tlsauthority.RootFile, tlsauthority.AuthorityFile, tlsauthority.GatewayFile}

// HasAuthority says whether the building's own authority is in the backup.
func (m Manifest) HasAuthority() bool { return m.Has(authorityPrefix + tlsauthority.AuthorityFile) }

// collectAuthority reads the authority in a data folder, all of the same one; a gateway without has none.
func collectAuthority(data string) (all []Source, err error) {
	folder, err := os.OpenRoot(filepath.Join(data, tlsauthority.Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the authority of the building: %w", err)
	}
	defer folder.Close()
	for _, name := range authorityFiles {
		raw, err := folder.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) && name == tlsauthority.GatewayFile {
			continue // the gateway makes it
		}
		if err != nil {
			return nil, fmt.Errorf("read the authority of the building: %w", err)
		}
		all = append(all, Source{Name: authorityPrefix + name, ReadSeeker: bytes.NewReader(raw)})
	}
	return all, nil
}

// PutAuthority writes the authority of a backup into a folder that becomes a data folder.
func (o *Opened) PutAuthority(dir string) error {
	if !o.HasAuthority() {
		return nil
	}
	folder := filepath.Join(dir, tlsauthority.Dir)
	err := os.Mkdir(folder, 0o700)
	for _, name := range authorityFiles {
		raw, is := o.Small[authorityPrefix+name]
		if !is || err != nil {
			continue
		}
		mode := os.FileMode(0o600)
		if name == tlsauthority.RootFile {
			mode = 0o644
		}
		err = os.WriteFile(filepath.Join(folder, name), raw, mode)
	}
	return err
}

// noAuthorityName is the mark in BeforeName that no authority was there before one came.
const noAuthorityName = "tls.none"

// HadNoAuthority says of a folder of BeforeName that the restore has brought an authority where none was.
func HadNoAuthority(before string) bool {
	_, err := os.Lstat(filepath.Join(before, noAuthorityName))
	return err == nil
}

// SameAuthority says whether a data folder has the authority of the backup.
func (o *Opened) SameAuthority(data string) bool {
	root, err := os.ReadFile(filepath.Join(data, tlsauthority.Dir, tlsauthority.RootFile))
	return err == nil && o.HasAuthority() && bytes.Equal(root, o.Small[authorityPrefix+tlsauthority.RootFile])
}

// withAuthority are the belongings of a gateway that another takes the place of: its authority stays where the
// other has none, unless it is known not to be this gateway's own.
func (p *Plan) withAuthority(old []string) []string {
	folder := p.path(tlsauthority.Dir)
	if _, err := os.Lstat(folder); err == nil && (p.NoAuthority || slices.Contains(p.New, tlsauthority.Dir)) {
		return append(old, folder)
	}
	return old
}

// markAuthority notes in what is kept that an authority comes where none was: an undo takes it away again.
func (p *Plan) markAuthority() error {
	_, err := os.Lstat(p.path(restoreDir, oldDir, tlsauthority.Dir))
	if !slices.Contains(p.New, tlsauthority.Dir) || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return atomicfile.Write(p.path(restoreDir, oldDir, noAuthorityName), nil, nil)
}
