package backup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"roomgate/agent/atomicfile"
)

// Note says when the last backup was made. It stays in the data folder, so
// that somebody notices when there is none.
type Note struct {
	At   time.Time `json:"at"`
	Size int64     `json:"size"` // bytes of the file
}

// WriteNote notes a backup in a data folder.
func WriteNote(data string, n Note) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	path := filepath.Join(data, NoteName)
	return atomicfile.Write(path, append(raw, '\n'), func(f *os.File) error { return GiveTo(f.Name(), data) })
}

// ReadNote reads the note; ok is false if no backup was ever noted.
func ReadNote(data string) (n Note, ok bool, err error) {
	raw, err := os.ReadFile(filepath.Join(data, NoteName))
	if errors.Is(err, fs.ErrNotExist) {
		return n, false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &n)
	}
	return n, err == nil, err
}
