package pages

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

const (
	many   = "table:many" // on leaves of its own, below a branch
	few    = "table:few"  // within the list of buckets
	rounds = 3
)

// made is a file that bbolt has written in several commits, and all that was ever stored in it, the newest last.
type made struct {
	data []byte
	rows map[string][]string // by bucket and key
}

func (m *made) file() File { return File{Reader: bytes.NewReader(m.data), Size: int64(len(m.data))} }

// without is the file with one page zeroed.
func (m *made) without(page uint64) File {
	data := bytes.Clone(m.data)
	clear(data[page*PageSize:][:PageSize])
	return File{Reader: bytes.NewReader(data), Size: int64(len(data))}
}

func at(bucket string, key []byte) string { return bucket + " " + string(key) }

func make_(t testing.TB) *made {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: PageSize, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		t.Fatal(err)
	}
	m := &made{rows: map[string][]string{}}
	for round := range rounds {
		err = errors.Join(err, db.Update(func(tx *bbolt.Tx) error {
			return errors.Join(m.put(tx, many, 300, round), m.put(tx, few, 3, round))
		}))
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if m.data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return m
}

// put stores n rows, in the first round all of them and later each tenth.
func (m *made) put(tx *bbolt.Tx, bucket string, n, round int) error {
	b, err := tx.CreateBucketIfNotExists([]byte(bucket))
	for i := 0; i < n && err == nil; i += min(1+round*9, 10) {
		key, value := fmt.Appendf(nil, "key %03d", i), fmt.Appendf(make([]byte, ValueHeader), `"round %d, row %060d"`, round, i)
		Seal(Seed([]byte(bucket)), key, value)
		m.rows[at(bucket, key)] = append(m.rows[at(bucket, key)], string(value))
		err = b.Put(key, value)
	}
	return errors.Join(err, b.SetSequence(uint64(n)))
}

// wantNewest refuses a row that is not the newest of its key.
func (m *made) wantNewest(t *testing.T, given map[string]string) {
	t.Helper()
	for at, value := range given {
		if all := m.rows[at]; len(all) == 0 || all[len(all)-1] != value {
			t.Errorf("%s reads %q", at, value)
		}
	}
}

// survey returns the rows to which the newest root leads.
func survey(t *testing.T, f File) (*Survey, map[string]string) {
	t.Helper()
	given := map[string]string{}
	s, err := f.Survey(f.Roots()[0], func(bucket string, key, value []byte) error {
		given[at(bucket, key)] = string(value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, given
}

func TestSurveyOfASoundFileGivesEveryRow(t *testing.T) {
	m := make_(t)
	if err := check(m.data); err != nil {
		t.Fatal(err)
	}
	s, given := survey(t, m.file())
	m.wantNewest(t, given)
	if len(given) != len(m.rows) || len(s.Buckets) != 2 {
		t.Errorf("%d rows of %d, %d buckets", len(given), len(m.rows), len(s.Buckets))
	}
	if row, bucket := s.Missing(many, []byte("none")), s.Missing("table:none", nil); s.Unlisted() || row || bucket {
		t.Errorf("unlisted %v; missing: a row %v, a bucket %v", s.Unlisted(), row, bucket)
	}
	if b := s.Buckets[many]; b.Sequence != 300 || b.Lost != 0 || b.Holes() != 0 {
		t.Errorf("bucket %+v", b)
	}
	err := s.Strays([]string{many, few}, nil, func(string, bool, []byte, []byte) error { return errors.New("a stray") })
	if err != nil {
		t.Error(err)
	}
}

// TestEveryLostPageIsAHole zeroes each page in turn. A row is given, or missing and said to be so; what lay below a
// branch is found again.
func TestEveryLostPageIsAHole(t *testing.T) {
	m := make_(t)
	h, err := m.file().Header()
	if err != nil {
		t.Fatal(err)
	}
	restored := 0
	for page := uint64(2); page < h.pages; page++ {
		f := m.without(page)
		s, given := survey(t, f)
		m.wantNewest(t, given)
		for place := range m.rows {
			bucket, key, _ := bytes.Cut([]byte(place), []byte(" "))
			if _, ok := given[place]; !ok && !s.Missing(string(bucket), key) {
				t.Errorf("without page %d nobody says that %s is missing", page, place)
			}
		}
		had := len(given)
		err := s.Strays([]string{many, few}, nil, func(bucket string, doubtful bool, key, value []byte) error {
			if all := m.rows[at(bucket, key)]; !slices.Contains(all, string(value)) {
				t.Errorf("without page %d a stray has %q", page, value)
			}
			if !doubtful {
				given[at(bucket, key)] = string(value)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if lost := len(m.rows) - len(given); lost > PageSize/80 {
			t.Errorf("without page %d %d of %d rows are lost", page, lost, len(m.rows))
		}
		if had < 10 && len(given) >= 300 {
			restored++
		}
	}
	if restored < 2 {
		t.Errorf("%d pages lead to all rows of a bucket, want the branch and the list", restored)
	}
}

func TestLostHeadersLeaveTheListings(t *testing.T) {
	m := make_(t)
	roots := m.file().Roots()
	if len(roots) != 2 {
		t.Fatalf("roots %v", roots)
	}
	clear(m.data[:2*PageSize])
	f := m.file()
	if _, err := f.Header(); !errors.Is(err, ErrDamaged) || len(f.Roots()) != 0 {
		t.Errorf("%v, roots %v", err, f.Roots())
	}
	all, err := f.Listings()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(l Listing) bool { return l.Root == roots[0] })
	if i < 0 || !maps.Equal(all[i].Sequences, map[string]uint64{many: 300, few: 3}) {
		t.Errorf("listings %+v, the root was %d", all, roots[0])
	}
	s, err := f.Survey(0, nil)
	if err != nil || !s.Unlisted() || !s.Missing(many, nil) {
		t.Errorf("without a root: %v, %+v", err, s)
	}
}

// FuzzSurvey feeds hostile pages to all that reads a damaged file.
func FuzzSurvey(f *testing.F) {
	f.Add(uint64(2), make_(f).data[2*PageSize:])
	f.Add(uint64(3), pageOf(3, "ac", 4, 5))
	f.Fuzz(func(t *testing.T, root uint64, rest []byte) {
		data := append(make([]byte, 2*PageSize, 20*PageSize), rest[:min(len(rest), 16*PageSize)]...)
		writeHeader(data, root)
		file := File{Reader: bytes.NewReader(data), Size: int64(len(data))}
		all, err := file.Listings()
		if err != nil {
			t.Error(err)
		}
		for _, l := range append(all, Listing{Root: root}) {
			s, err := file.Survey(l.Root, func(string, []byte, []byte) error { return nil })
			if err == nil {
				err = s.Strays([]string{many, few}, nil, func(string, bool, []byte, []byte) error { return nil })
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// A page whose keys are out of order may lead to itself by many of them, and each of those again.
func TestPageThatLeadsToItselfEndsTheSurvey(t *testing.T) {
	keys := strings.Repeat("ba", 40)
	data := make([]byte, 2*PageSize)
	data = append(data, make([]byte, PageSize)...)
	data = append(data, pageOf(3, keys, slices.Repeat([]uint64{3}, len(keys))...)...)
	writeHeader(data, 3)
	s, given := survey(t, File{Reader: bytes.NewReader(data), Size: int64(len(data))})
	if !s.Unlisted() || len(given) > 0 {
		t.Errorf("unlisted %v, %d rows", s.Unlisted(), len(given))
	}
}
