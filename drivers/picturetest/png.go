// Package picturetest makes pictures that tests send: large ones that hardly
// take time to make, and damaged ones that no encoder makes.
package picturetest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
)

// channels are the samples of one pixel, by the color type of PNG.
var channels = map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}

// PNG is a picture of zeros with the fields of its head as they are given, also
// where they are no picture of sense. Only the first rows are in it: without
// the others it is a damaged file that sets aside all its memory when unpacked.
func PNG(w, h int, depth, color, interlace byte, rows int) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	b := chunk([]byte("\x89PNG\r\n\x1a\n"), "IHDR", append(head, depth, color, 0, 0, interlace))
	if color == 3 {
		b = chunk(b, "PLTE", make([]byte, 3))
	}
	row := 1 + (int64(w)*int64(channels[color])*int64(depth)+7)/8
	b = chunk(b, "IDAT", zeros(min(80<<20, row)*int64(min(h, rows))))
	return chunk(b, "IEND", nil)
}

// chunk appends a chunk (PNG, section 5.3).
func chunk(b []byte, name string, data []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	from := len(b)
	b = append(append(b, name...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
}

// zeros are n packed zeros. A packer looks at each of them; this one packs a
// block once and repeats it: what a block refers to before it are zeros too.
func zeros(n int64) []byte {
	const block = 1 << 16
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(make([]byte, n%block))
	_ = z.Flush()
	packed, from := bytes.Clone(b.Bytes()), b.Len()
	if n >= block {
		_, _ = z.Write(make([]byte, block))
		_ = z.Flush()
	}
	packed = append(packed, bytes.Repeat(b.Bytes()[from:], int(n/block))...)
	packed = append(packed, 1, 0, 0, 0xff, 0xff)                        // the last block, which is empty (RFC 1951, 3.2.4)
	return binary.BigEndian.AppendUint32(packed, uint32(n%65521)<<16|1) // the sum of zeros (RFC 1950, 8.2)
}
