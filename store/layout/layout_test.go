package layout

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"roomgate/store/pages"
)

// TestRows judges queues and the format of the file.
func TestRows(t *testing.T) {
	gaps := []byte(`{"dropped":1,"gaps":[{"at":10,"n":6}]}`)
	for _, c := range []struct {
		name, bucket string
		sequence     uint64
		rows         map[string][]byte // all of them, in any order but for the state
		want         error
	}{
		{"a queue", "queue:log", 3, map[string][]byte{string(Key(3)): nil}, nil},
		{"one that has no row", "queue:log", 3, nil, nil},
		{"the last row is missing", "queue:log", 3, map[string][]byte{string(Key(2)): nil}, pages.ErrDamaged},
		{"a row that has not been given", "queue:log", 3, map[string][]byte{string(Key(4)): nil}, pages.ErrDamaged},
		{"a row without a number", "queue:log", 3, map[string][]byte{"short": nil}, pages.ErrDamaged},
		{"a table has no numbers", "table:log", 0, map[string][]byte{"short": nil}, nil},
		{"this format", Meta, 0, map[string][]byte{FormatKey: []byte(Format)}, nil},
		{"a newer one", Meta, 0, map[string][]byte{FormatKey: []byte("2")}, ErrNewerSchema},
	} {
		r := Rows(c.bucket, c.sequence)
		var err error
		for key, body := range c.rows {
			err = errors.Join(err, r.Row([]byte(key), body))
		}
		if err = errors.Join(err, r.End()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	r := Rows("queue:log", 9)
	if err := errors.Join(r.Row(StateKey, gaps), r.Row(Key(3), nil), r.End()); err != nil {
		t.Errorf("a queue that has noted what it skipped: %v", err)
	}
}

// TestGaps finds what a queue lacks, at its end too.
func TestGaps(t *testing.T) {
	db, err := bbolt.Open(filepath.Join(t.TempDir(), "gaps.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i, c := range []struct {
		rows []uint64
		next uint64
		want []Gap
	}{
		{nil, 9, nil},
		{[]uint64{0}, 9, nil}, // its state alone
		{[]uint64{0, 4, 5, 8}, 9, []Gap{{8, 2}, {10, 1}}},
		{[]uint64{4, 5}, 5, []Gap{{6, 0}}},
	} {
		err := db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket(Queue(fmt.Sprint(i)))
			for _, seq := range c.rows {
				err = errors.Join(err, b.Put(Key(seq), nil))
			}
			if err != nil {
				return err
			}
			got, err := Gaps(b, c.next)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%v: %s", c.rows, diff)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzRows judges rows whose seal is good and that are nonsense all the same.
func FuzzRows(f *testing.F) {
	f.Add("queue:log", uint64(3), Key(0), []byte(`{"gaps":[{"at":4,"n":9}]}`))
	f.Add("queue:log", uint64(3), []byte("short"), []byte(`{}`))
	f.Add(Meta, uint64(0), []byte(FormatKey), []byte("2"))
	f.Fuzz(func(_ *testing.T, bucket string, sequence uint64, key, body []byte) {
		r := Rows(bucket, sequence)
		_, _ = r.Row(key, body), r.End()
	})
}
