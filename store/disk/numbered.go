package disk

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Numbered is one of the files of a kind beside a file, each named <file>.<kind>-<number>. Numbers only rise, because
// a gateway's clock cannot be trusted to.
type Numbered struct {
	Name   string
	Number int
}

// Sibling is the name of a file of a kind beside path.
func Sibling(path, kind string, number int) string {
	return fmt.Sprintf("%s.%s-%06d", path, kind, number)
}

// Siblings lists the files of one kind beside path, oldest first.
func Siblings(path, kind string) ([]Numbered, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var found []Numbered
	prefix := filepath.Base(path) + "." + kind + "-"
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), prefix)
		n, err := strconv.Atoi(digits)
		if ok && err == nil {
			found = append(found, Numbered{filepath.Join(filepath.Dir(path), e.Name()), n})
		}
	}
	slices.SortFunc(found, func(a, b Numbered) int { return cmp.Compare(a.Number, b.Number) })
	return found, nil
}

// Following is the number of the next file after those.
func Following(found []Numbered) int {
	if len(found) == 0 {
		return 1
	}
	return found[len(found)-1].Number + 1
}

// Prune removes all but the newest keep.
func Prune(found []Numbered, keep int) error {
	var errs []error
	for _, f := range found[:max(0, len(found)-keep)] {
		errs = append(errs, os.Remove(f.Name))
	}
	return errors.Join(errs...)
}
