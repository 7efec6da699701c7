package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"
)

// A power cut may ruin the header that is being written, at any commit, also the first. The other one holds all that
// was acknowledged.
func TestEitherHeaderIsEnough(t *testing.T) {
	for header := range int64(2) {
		for _, rows := range []int{0, 1, 2} {
			path := tempPath(t)
			db := start(t, path, Options{})
			for range rows {
				push(t, db, log, 1)
			}
			stop(t, db)
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = file.WriteAt(make([]byte, pageSize), header*pageSize)
			if err := errors.Join(err, file.Close()); err != nil {
				t.Fatal(err)
			}
			db, report := startReport(t, path, Options{})
			if report != (Report{}) {
				t.Errorf("without header %d, %d rows: %+v", header, rows, report)
			}
			push(t, db, log, 1)
			view(t, db, func(tx *Tx) error {
				if n := log.Len(tx); n < rows || n > rows+1 {
					t.Errorf("without header %d: %d rows of %d", header, n-1, rows)
				}
				return nil
			})
		}
	}
}

// pageOf writes a branch with one child for each one-letter key, or, without children, a leaf of empty buckets.
func pageOf(id uint64, keys string, children ...uint64) []byte {
	data := make([]byte, pageSize)
	little.PutUint64(data, id)
	little.PutUint16(data[8:], flagLeaf)
	if len(children) > 0 {
		little.PutUint16(data[8:], flagBranch)
	}
	little.PutUint16(data[10:], uint16(len(keys)))
	room := 1 // bytes from key to key
	if len(children) == 0 {
		room += bucketSize + pageHeader
	}
	for i := range len(keys) {
		at := pageHeader + i*elementSize
		raw, place := data[at:], pageHeader+len(keys)*elementSize+i*room
		data[place] = keys[i]
		if len(children) > 0 {
			little.PutUint32(raw, uint32(place-at))
			little.PutUint32(raw[4:], 1)
			little.PutUint64(raw[8:], children[i])
			continue
		}
		little.PutUint32(raw, leafBucket)
		little.PutUint32(raw[4:], uint32(place-at))
		little.PutUint32(raw[8:], 1)
		little.PutUint32(raw[12:], bucketSize+pageHeader)
		little.PutUint16(data[place+1+bucketSize+8:], flagLeaf)
	}
	return data
}

// chain is a tree of n pages, each the only child of the one before.
func chain(n uint64) (pages [][]byte) {
	for id := range n {
		pages = append(pages, pageOf(3+id, "a", 4+id))
	}
	return append(pages, pageOf(3+n, "a"))
}

func TestVerifyRefusesWrongTrees(t *testing.T) {
	cases := map[string]struct {
		pages [][]byte
		sound bool
	}{
		"leaf":              {[][]byte{pageOf(3, "ab")}, true},
		"two children":      {[][]byte{pageOf(3, "ac", 4, 5), pageOf(4, "ab"), pageOf(5, "ce")}, true},
		"branch":            {[][]byte{pageOf(3, "a", 4), pageOf(4, "bc")}, true},
		"keys out of order": {[][]byte{pageOf(3, "ba")}, false},
		"key twice":         {[][]byte{pageOf(3, "aa")}, false},
		"child below":       {[][]byte{pageOf(3, "b", 4), pageOf(4, "ab")}, false},
		"child above":       {[][]byte{pageOf(3, "ac", 4, 5), pageOf(4, "ad"), pageOf(5, "e")}, false},
		"page used twice":   {[][]byte{pageOf(3, "ab", 4, 4), pageOf(4, "")}, false},
		"too deep":          {chain(maxDepth), false},
		"circle":            {[][]byte{pageOf(3, "a", 3)}, false},
		"outside":           {[][]byte{pageOf(3, "a", 9)}, false},
		"wrong number":      {[][]byte{pageOf(4, "a")}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			data := make([]byte, 3*pageSize)
			data = append(data, bytes.Join(c.pages, nil)...)
			writeHeader(data, 3)
			err := verifyImage(bytes.NewReader(data), int64(len(data)))
			if c.sound && err != nil || !c.sound && !errors.Is(err, ErrDamaged) {
				t.Error(err)
			}
		})
	}
}

func TestVerifyLeavesOtherThingsAlone(t *testing.T) {
	dir := t.TempDir()
	if err := Verify(dir); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("a folder: %v", err)
	}
	if err := Verify(dir + "/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, _, err := Open(context.Background(), dir, Options{}); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("opened a folder: %v", err)
	}
}

func TestVerifyFindsRowsAboveTheLastNumber(t *testing.T) {
	path := tempPath(t)
	db, _, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	push(t, db, log, 3)
	update(t, db, func(tx *Tx) error {
		tx.undo = append(tx.undo, change{}) // something was written
		return tx.bolt.Bucket(log.bucket).SetSequence(2)
	})
	stop(t, db)
	wantError(t, Verify(path), ErrDamaged)
}
