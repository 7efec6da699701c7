package store

import (
	"bytes"
	"testing"

	"roomgate/store/pages"
)

func TestEveryFlippedBitOfAValueIsFound(t *testing.T) {
	seed, key := pages.Seed([]byte("table:a")), []byte("key")
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
	wantError(t, decode(pages.Seed([]byte("table:b")), key, good, &r), ErrDamaged)
	wantError(t, decode(seed, key, good[:4], &r), ErrDamaged)
}

func FuzzDecode(f *testing.F) {
	seed, key := pages.Seed([]byte("table:a")), []byte("key")
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
