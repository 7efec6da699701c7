package pages

import (
	"bytes"
	"errors"
	"testing"
)

// anyRows finds every row good.
type anyRows struct{}

func (anyRows) Row(_, _ []byte) error { return nil }
func (anyRows) End() error            { return nil }

func check(data []byte) error {
	f := File{Reader: bytes.NewReader(data), Size: int64(len(data))}
	return f.Check(func(string, uint64) Rows { return anyRows{} })
}

// pageOf writes a branch with one child for each one-letter key, or, without children, a leaf of empty buckets.
func pageOf(id uint64, keys string, children ...uint64) []byte {
	data := make([]byte, PageSize)
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

func TestCheckRefusesWrongTrees(t *testing.T) {
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
			data := make([]byte, 3*PageSize)
			data = append(data, bytes.Join(c.pages, nil)...)
			writeHeader(data, 3)
			err := check(data)
			if c.sound && err != nil || !c.sound && !errors.Is(err, ErrDamaged) {
				t.Error(err)
			}
		})
	}
}

// FuzzImage feeds files with valid headers and hostile pages.
func FuzzImage(f *testing.F) {
	f.Add(uint64(3), []byte{3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 32, 0, 0, 0, 'q'})
	f.Add(uint64(3), []byte{3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 'q'})
	f.Fuzz(func(t *testing.T, root uint64, pages []byte) {
		pages = pages[:min(len(pages), 16*PageSize)]
		data := make([]byte, 3*PageSize, 20*PageSize)
		data = append(data, pages...)
		data = append(data, make([]byte, PageSize-len(data)%PageSize)...)
		writeHeader(data, root)
		err := check(data)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	})
}

func writeHeader(data []byte, root uint64) {
	raw := data[pageHeader:]
	little.PutUint32(raw, boltMagic)
	little.PutUint32(raw[4:], boltVersion)
	little.PutUint32(raw[8:], PageSize)
	little.PutUint64(raw[16:], root)
	little.PutUint64(raw[32:], noFreelist)
	little.PutUint64(raw[40:], uint64(len(data)/PageSize))
	little.PutUint64(raw[56:], headerSum(raw))
}
