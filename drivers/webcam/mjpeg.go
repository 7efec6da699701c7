package webcam

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"sync"

	"roomgate/drivers"
)

// The markers of a JPEG (ISO/IEC 10918-1, table B.1), each after a byte 0xff.
const (
	markSOI = 0xd8
	markEOI = 0xd9
	markDHT = 0xc4
	markSOS = 0xda
)

var errShort = errors.New("it ends too early")

// fromMJPEG checks that a frame is a whole picture, down to its last pixel,
// and adds the Huffman tables that many cameras leave out.
func fromMJPEG(f drivers.Frame) ([]byte, error) {
	end := bytes.LastIndex(f.Data, []byte{0xff, markEOI})
	if end < 0 {
		return nil, errShort
	}
	data, err := withTables(f.Data[:end+2])
	if err != nil {
		return nil, err
	}
	size, err := drivers.MeasurePicture(data) // a camera may be anybody's
	if err != nil {
		return nil, err
	}
	if size.Width != f.Width || size.Height != f.Height {
		return nil, fmt.Errorf("it has %d by %d pixels instead of %d by %d", size.Width, size.Height, f.Width, f.Height)
	}
	if _, err := jpeg.Decode(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	return data, nil
}

// withTables puts the standard Huffman tables before the pixels if there are
// none.
func withTables(data []byte) ([]byte, error) {
	at, err := find(data, markDHT)
	if err != nil || data[at+1] == markDHT {
		return data, err
	}
	return bytes.Join([][]byte{data[:at], tables(), data[at:]}, nil), nil
}

// find returns where the segment with the marker begins, or the pixels if
// there is none before them.
func find(data []byte, marker byte) (int, error) {
	if !bytes.HasPrefix(data, []byte{0xff, markSOI}) {
		return 0, errors.New("it is not a JPEG")
	}
	for at := 2; at+4 <= len(data) && data[at] == 0xff; {
		if data[at+1] == marker || data[at+1] == markSOS {
			return at, nil
		}
		at += 2 + (int(data[at+2])<<8 | int(data[at+3]))
	}
	return 0, errShort
}

// tables are the tables of ISO/IEC 10918-1, annex K.3, as one segment: those
// with which the library encodes.
var tables = sync.OnceValue(func() []byte {
	m := image.NewYCbCr(image.Rect(0, 0, 8, 8), image.YCbCrSubsampleRatio444)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		return nil
	}
	at, err := find(b.Bytes(), markDHT)
	if err != nil {
		return nil
	}
	segment := b.Bytes()[at:]
	return segment[:2+(int(segment[2])<<8|int(segment[3]))]
})
