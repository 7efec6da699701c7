package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"roomgate/store/pages"
)

// ErrNewerSchema says that the file was written by a newer version of the program.
var ErrNewerSchema = errors.New("store was written by a newer version, update the program or restore a backup")

// rows judges the rows of one bucket.
type rows struct {
	name     string
	sequence uint64
	last     uint64 // of a queue: the number of its last row
	state    State
}

// Rows judges the rows of a bucket in a sound file: those of a queue have numbers that it has given, and the format is one
// that this program knows. Its errors wrap pages.ErrDamaged or ErrNewerSchema.
func Rows(bucket string, sequence uint64) pages.Rows {
	return &rows{name: bucket, sequence: sequence}
}

// End refuses a queue whose last number is not that of its last row: nothing guards it where it lies. Numbers that
// were skipped are noted.
func (r *rows) End() error {
	skipped := slices.ContainsFunc(r.state.Gaps, func(g Gap) bool { return g.At == r.sequence+1 })
	if r.last > 0 && r.last != r.sequence && !skipped {
		return fmt.Errorf("%w: %s: the last number is %d, and its last row has %d", pages.ErrDamaged, r.name, r.sequence, r.last)
	}
	return nil
}

// Row refuses a number that its queue has not come to, and the format of a newer version.
func (r *rows) Row(key, body []byte) error {
	switch {
	case IsQueue(r.name):
		n, ok := Number(key)
		if !ok || n > r.sequence {
			return fmt.Errorf("%w: %s: row %x is above the last number %d", pages.ErrDamaged, r.name, key, r.sequence)
		}
		if r.last = n; r.last == 0 {
			return json.Unmarshal(body, &r.state)
		}
	case r.name == Meta && string(key) == FormatKey:
		if string(body) != Format {
			return fmt.Errorf("%w: file format %s", ErrNewerSchema, body)
		}
	}
	return nil
}
