package sealed

import (
	"bytes"
	"errors"
	"testing"

	"roomgate/store/pages"
)

type record struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

func TestEveryFlippedBitOfAValueIsFound(t *testing.T) {
	seed, key := pages.Seed([]byte("table:a")), []byte("key")
	good, err := New().Encode(seed, key, record{"name", 1})
	if err != nil {
		t.Fatal(err)
	}
	if want := "\x01....{\"name\":\"name\",\"n\":1}"; len(good) != len(want) || string(good[5:]) != want[5:] {
		t.Errorf("stored form %q", good)
	}
	var r record
	if err := Decode(seed, key, good, &r); err != nil || r != (record{"name", 1}) {
		t.Errorf("decoded %v, %v", r, err)
	}
	for bit := range len(good) * 8 {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		wantDamaged(t, Decode(seed, key, bad, &r))
	}
	wantDamaged(t, Decode(seed, []byte("kez"), good, &r))
	wantDamaged(t, Decode(pages.Seed([]byte("table:b")), key, good, &r))
	wantDamaged(t, Decode(seed, key, good[:4], &r))
}

func wantDamaged(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, pages.ErrDamaged) {
		t.Errorf("error is %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	seed, key := pages.Seed([]byte("table:a")), []byte("key")
	good, err := New().Encode(seed, key, record{"name", 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte{1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var r record
		_ = Decode(seed, key, data, &r)
	})
}
