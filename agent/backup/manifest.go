package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"time"
)

// The names of what is in a backup.
const (
	ManifestName = "manifest.json"
	ConfigName   = "gateway.yaml"
	SecretName   = "device.secret"
	BoardName    = SecretName + ".board" // not in a backup: it may come to other hardware
	DatabaseName = "roomgate.db"
)

// formatNow is the version of the manifest and of what it describes.
const formatNow = 1

// Bounds of what is read before its checksum is known.
const (
	maxManifest = 1 << 20 // bytes
	maxSmall    = 4 << 20 // bytes, of all but the database
	maxDatabase = 4 << 30 // bytes
	maxFiles    = 16 + maxNamed
)

// Errors of reading a backup.
var (
	// ErrPassphrase says that the passphrase does not open the file.
	ErrPassphrase = errors.New("the passphrase does not open it")
	// ErrNotBackup says that the file is something else.
	ErrNotBackup = errors.New("is not a backup of a gateway")
	// ErrDamaged says that the file was changed or cut off.
	ErrDamaged = errors.New("is damaged")
	// ErrNewer says that a newer program wrote it.
	ErrNewer = errors.New("was written by a newer version: update the program first")
)

// Manifest says what is in a backup.
type Manifest struct {
	Format      int       `json:"format"`
	Version     string    `json:"version"` // of the program that wrote it
	Schema      int       `json:"schema"`  // of the database
	GatewayID   string    `json:"gateway_id"`
	GatewayName string    `json:"gateway_name,omitempty"`
	Created     time.Time `json:"created_at"`
	Files       []File    `json:"files"` // in their order
	// Named are files that the configuration names and that are not in the
	// backup, because they lie elsewhere: they are to be brought along.
	Named []string `json:"named_files,omitempty"`
}

// File is one file in a backup.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
	// Of a file that the configuration names, with the name files/PATH or
	// credentials/NAME: its permissions, and whether it is the gateway's user's.
	Mode    os.FileMode `json:"mode,omitempty"`
	Service bool        `json:"service,omitempty"`
}

// Has says whether a file of that name is in the backup.
func (m Manifest) Has(name string) bool {
	for _, f := range m.Files {
		if f.Name == name {
			return true
		}
	}
	return false
}

// Size is how many bytes the files have.
func (m Manifest) Size() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// parseManifest reads and judges a manifest. schema is the newest one that
// this program knows.
func parseManifest(raw []byte, schema int) (m Manifest, err error) {
	var format struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(raw, &format); err != nil {
		return m, fmt.Errorf("%w: its manifest cannot be read: %w", ErrDamaged, err)
	}
	if format.Format > formatNow {
		return m, fmt.Errorf("%w (format %d, this one knows %d)", ErrNewer, format.Format, formatNow)
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("%w: its manifest cannot be read: %w", ErrDamaged, err)
	}
	if m.Schema > schema {
		return m, fmt.Errorf("%w (version %s with schema %d, this one knows %d)", ErrNewer, m.Version, m.Schema, schema)
	}
	return m, m.check()
}

// check refuses names and sizes that no backup has.
func (m Manifest) check() error {
	if m.Format < 1 || m.Schema < 1 || len(m.Files) > maxFiles {
		return fmt.Errorf("%w: its manifest makes no sense", ErrDamaged)
	}
	seen := map[string]bool{}
	for _, f := range m.Files {
		most, good := int64(maxSmall), f.Name != "" && f.Name == path.Base(f.Name) && f.Name != ".." && f.Name != "." && f.Name != ManifestName
		switch {
		case f.Name == DatabaseName:
			most = maxDatabase
		case validName(f.Name):
			most, good = maxNamedSize, true
		}
		if !good || seen[f.Name] || f.Size < 0 || f.Size > most || f.Mode&^os.ModePerm != 0 {
			return fmt.Errorf("%w: its manifest names %q of %d bytes", ErrDamaged, f.Name, f.Size)
		}
		seen[f.Name] = true
	}
	for _, name := range []string{ConfigName, SecretName, DatabaseName} {
		if !seen[name] {
			return fmt.Errorf("%w: it has no %s", ErrDamaged, name)
		}
	}
	return nil
}
