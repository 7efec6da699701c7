package salvage

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"roomgate/store/layout"
	"roomgate/store/pages"
	"roomgate/store/sealed"
)

func open(t *testing.T, name string) *bbolt.DB {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(t.TempDir(), name), 0o600, &bbolt.Options{PageSize: pages.PageSize, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// put stores sealed rows in a bucket.
func put(t *testing.T, db *bbolt.DB, bucket []byte, rows map[string]string, sequence uint64) {
	t.Helper()
	err := db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucket)
		for key, value := range rows {
			raw, err2 := sealed.New().Encode(pages.Seed(bucket), []byte(key), value)
			err = errors.Join(err, err2, b.Put([]byte(key), raw))
		}
		return errors.Join(err, b.SetSequence(sequence))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func row(t *testing.T, db *bbolt.DB, bucket, key []byte) (v string) {
	t.Helper()
	err := db.View(func(tx *bbolt.Tx) error {
		raw := tx.Bucket(bucket).Get(key)
		if raw == nil {
			v = "none"
			return nil
		}
		return sealed.Decode(pages.Seed(bucket), key, raw, &v)
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestMerge lets a table lose the only page of its rows: they are those of the snapshot then, and the others are of the
// file. The queue gives no number again.
func TestMerge(t *testing.T) {
	doors, rooms, log := layout.Table("doors"), layout.Table("rooms"), layout.Queue("log")
	long := string(bytes.Repeat([]byte("x"), 3000)) // more than a quarter of a page: the bucket has its own
	old, now := open(t, "old.db"), open(t, "now.db")
	put(t, old, doors, map[string]string{"a": "old" + long}, 0)
	put(t, old, rooms, map[string]string{"a": "old" + long, "deleted": "x"}, 0)
	put(t, old, log, map[string]string{string(layout.Key(1)): "one"}, 1)
	for range 2 { // so that both states of the file are alike
		put(t, now, rooms, map[string]string{"a": "now" + long}, 0)
		put(t, now, log, map[string]string{string(layout.Key(1)): "one", string(layout.Key(2)): "two"}, 7)
		put(t, now, doors, map[string]string{"a": "now" + long}, 0)
	}
	raw, err := os.ReadFile(now.Path())
	if err != nil {
		t.Fatal(err)
	}
	for rest := raw; ; {
		at := bytes.Index(rest, []byte(`"now`+long))
		if at < 0 {
			break
		}
		if start := at / pages.PageSize * pages.PageSize; doorsPage(rest[start:start+pages.PageSize], doors) {
			clear(rest[start : start+pages.PageSize])
		}
		rest = rest[(at/pages.PageSize+1)*pages.PageSize:]
	}

	snapshot, err := old.Begin(false)
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Rollback()
	out, note := open(t, "out.db"), Repair{}
	o := Options{File: pages.File{Reader: bytes.NewReader(raw), Size: int64(len(raw))}, Snapshot: snapshot, Schema: 3, Base: 1 << 40}
	if err := Merge(out, o, &note); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		bucket     []byte
		key, value string
	}{{doors, "a", "old" + long}, {rooms, "a", "now" + long}, {rooms, "deleted", "none"}, {log, string(layout.Key(2)), "two"}} {
		if v := row(t, out, want.bucket, []byte(want.key)); v != want.value {
			t.Errorf("%s %q: %.10q, want %.10q", want.bucket, want.key, v, want.value)
		}
	}
	if !note.Doubtful(string(doors)) || note.Doubtful(string(rooms)) || note.Doubtful(string(log)) {
		t.Errorf("the note says %+v", note)
	}
	err = out.View(func(tx *bbolt.Tx) error {
		if next := tx.Bucket(log).Sequence(); next != 7+layout.Skipped {
			t.Errorf("the queue goes on after %d", next)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	file, err := os.ReadFile(out.Path())
	if err != nil {
		t.Fatal(err)
	}
	read, err := Read(Options{File: pages.File{Reader: bytes.NewReader(file), Size: int64(len(file))}}, nil, func(string, []byte, []byte) error { seen++; return nil })
	if err != nil || seen != 4 || read.Sum().Kept != 4 || read.Sum().Holes != 0 {
		t.Errorf("%d rows can be read of the new file, %+v, %v", seen, read, err)
	}
}

// doorsPage says whether the row on a page has the seal of that bucket.
func doorsPage(page, bucket []byte) bool {
	at := bytes.Index(page, []byte(`"now`))
	value := page[at-pages.ValueHeader:]
	value = value[:pages.ValueHeader+bytes.LastIndexByte(value[pages.ValueHeader:], '"')+1]
	_, err := pages.Payload(pages.Seed(bucket), []byte("a"), value)
	return err == nil
}
