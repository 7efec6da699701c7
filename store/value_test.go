package store

import (
	"bytes"
	"errors"
	"testing"
)

func TestEveryFlippedBitOfAValueIsFound(t *testing.T) {
	seed, key := seedOf([]byte("table:a")), []byte("key")
	good, err := newEncoder().encode(seed, key, record{"name", 1})
	if err != nil {
		t.Fatal(err)
	}
	if want := "\x01....{\"name\":\"name\",\"n\":1}"; len(good) != len(want) || string(good[5:]) != want[5:] {
		t.Errorf("stored form %q", good)
	}
	var r record
	if err := decode(seed, key, good, &r); err != nil || r != (record{"name", 1}) {
		t.Errorf("decoded %v, %v", r, err)
	}
	for bit := range len(good) * 8 {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		wantError(t, decode(seed, key, bad, &r), ErrDamaged)
	}
	wantError(t, decode(seed, []byte("kez"), good, &r), ErrDamaged)
	wantError(t, decode(seedOf([]byte("table:b")), key, good, &r), ErrDamaged)
	wantError(t, decode(seed, key, good[:4], &r), ErrDamaged)
}

func FuzzDecode(f *testing.F) {
	seed, key := seedOf([]byte("table:a")), []byte("key")
	good, err := newEncoder().encode(seed, key, record{"name", 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte{1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var r record
		_ = decode(seed, key, data, &r)
	})
}

// FuzzImage feeds files with valid headers and hostile pages.
func FuzzImage(f *testing.F) {
	f.Add(uint64(3), []byte{3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 32, 0, 0, 0, 'q'})
	f.Add(uint64(3), []byte{3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 'q'})
	f.Fuzz(func(t *testing.T, root uint64, pages []byte) {
		pages = pages[:min(len(pages), 16*pageSize)]
		data := make([]byte, 3*pageSize, 20*pageSize)
		data = append(data, pages...)
		data = append(data, make([]byte, pageSize-len(data)%pageSize)...)
		writeHeader(data, root)
		err := verifyImage(bytes.NewReader(data), int64(len(data)))
		if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewerSchema) {
			t.Error(err)
		}
	})
}

func writeHeader(data []byte, root uint64) {
	raw := data[pageHeader:]
	little.PutUint32(raw, boltMagic)
	little.PutUint32(raw[4:], boltVersion)
	little.PutUint32(raw[8:], pageSize)
	little.PutUint64(raw[16:], root)
	little.PutUint64(raw[32:], noFreelist)
	little.PutUint64(raw[40:], uint64(len(data)/pageSize))
	little.PutUint64(raw[56:], headerSum(raw))
}
