package camera

import (
	"bytes"
	"errors"
	"fmt"
	"image/jpeg"
)

// maxSide and maxPixels bound a picture, so that anybody who shows it is not made
// to set gigabytes aside.
const (
	maxSide   = 16384
	maxPixels = 64 << 20
)

// maxPadding is how much a camera may add after the end of a picture; some
// fill up blocks.
const maxPadding = 4 << 10

var errPicture = errors.New("camera sent a picture that cannot be used")

// check returns a whole JPEG, its data without what follows its end (ISO/IEC 10918-1, B.1.1.3: SOI is ff d8, EOI is ff d9). It
// does not decode the pixels.
func check(data []byte) (JPEG, error) {
	if !bytes.HasPrefix(data, []byte{0xff, 0xd8, 0xff}) {
		return JPEG{}, fmt.Errorf("%w: not a JPEG", errPicture)
	}
	c, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return JPEG{}, fmt.Errorf("%w: %w", errPicture, err)
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxSide || c.Height > maxSide || c.Width*c.Height > maxPixels {
		return JPEG{}, fmt.Errorf("%w: it is %d by %d pixels", errPicture, c.Width, c.Height)
	}
	end := bytes.LastIndex(data, []byte{0xff, 0xd9})
	if end < 0 || len(data)-end-2 > maxPadding {
		return JPEG{}, fmt.Errorf("%w: it ends too early", errPicture)
	}
	return JPEG{c.Width, c.Height, data[:end+2]}, nil
}
