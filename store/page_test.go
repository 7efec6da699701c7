package store

import (
	"bytes"
	"encoding/binary"
	"slices"

	"roomgate/store/pages"
)

var little = binary.LittleEndian

// What these tests know themselves of bbolt's pages, so that they do not judge by the reader that they test.
const (
	flagLeaf   = 2
	flagMeta   = 4
	headerSize = 16 // of a page, an element and a bucket
)

// soundElement is a row, a bucket or, of a branch, a child.
type soundElement struct {
	bucket     bool
	key, value []byte
	child      uint64
}

// soundPage reads the page with which data begins and says how many more belong to it. It has to be sound.
func soundPage(data []byte) (leaf bool, more uint64, all []soundElement) {
	leaf = little.Uint16(data[8:]) == flagLeaf
	for i := range int(little.Uint16(data[10:])) {
		raw := data[headerSize*(1+i):]
		var e soundElement
		var pos, key, value uint32
		if leaf {
			e.bucket = little.Uint32(raw) == 1
			pos, key, value = little.Uint32(raw[4:]), little.Uint32(raw[8:]), little.Uint32(raw[12:])
		} else {
			pos, key, e.child = little.Uint32(raw), little.Uint32(raw[4:]), little.Uint64(raw[8:])
		}
		e.key, e.value = raw[pos:][:key], raw[pos+key:][:value]
		all = append(all, e)
	}
	return leaf, uint64(little.Uint32(data[12:])), all
}

// soundHeader is the newest header of a file.
func soundHeader(data []byte) (root, count uint64) {
	at := func(header int) []byte { return data[header*pages.PageSize+headerSize:] }
	newest := at(0)
	if little.Uint64(at(1)[48:]) > little.Uint64(newest[48:]) {
		newest = at(1)
	}
	return little.Uint64(newest[16:]), little.Uint64(newest[40:])
}

func pageOf(data []byte, id uint64) []byte { return data[id*pages.PageSize:][:pages.PageSize] }

// rootOf is the page on which a bucket of several pages begins.
func rootOf(data, bucket []byte) []byte {
	root, _ := soundHeader(data)
	_, _, buckets := soundPage(pageOf(data, root))
	at := slices.IndexFunc(buckets, func(e soundElement) bool { return bytes.Equal(e.key, bucket) })
	return pageOf(data, little.Uint64(buckets[at].value))
}

// leafOf is the nth leaf of the table of records, counted from 0.
func leafOf(data []byte, n int) []byte {
	_, _, leaves := soundPage(rootOf(data, records.bucket))
	return pageOf(data, leaves[n].child)
}
