package drivers

import (
	"bytes"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
)

// The most that a picture may ask of anybody who unpacks it.
const (
	// MaxUnpacked bounds the memory, in bytes: a screen of 3840 x 2160 with four
	// bytes a pixel, and some.
	MaxUnpacked = 40 << 20
	// MaxSide bounds width and height, in pixels. Thin pictures cost more than
	// their pixels, as whole rows and blocks are set aside.
	MaxSide = 4096
	// maxScans bounds how often a JPEG goes over its pixels. Cameras and
	// browsers do so once, progressive pictures about ten times; one of a few
	// bytes can do so thousands of times.
	maxScans = 16
)

// The refusals of a picture before it is unpacked.
var (
	ErrNoPicture    = errors.New("neither PNG nor JPEG")
	ErrPictureLarge = errors.New("takes too much to unpack: want at most 3840 x 2160 pixels of 8 bits a channel, not interlaced or progressive")
)

// PictureSize is what the head of a picture says of it.
type PictureSize struct {
	ContentType   string // "image/png" or "image/jpeg"
	Width, Height int    // in pixels, from 1 to MaxSide
	Memory        int64  // bytes that unpacking it takes, at most MaxUnpacked
}

// MeasurePicture reads the head of a PNG or JPEG. It refuses what must not be
// unpacked with ErrPictureLarge, and what is no picture with ErrNoPicture; it
// takes no more memory itself than the head is long.
func MeasurePicture(data []byte) (p PictureSize, err error) {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		p, err = measurePNG(data)
	case bytes.HasPrefix(data, []byte{0xff, 0xd8, 0xff}):
		p, err = measureJPEG(data)
	default:
		return p, ErrNoPicture
	}
	switch {
	case err != nil:
		return p, err
	case p.Width < 1 || p.Height < 1:
		return p, ErrNoPicture
	case p.Width > MaxSide || p.Height > MaxSide || p.Memory > MaxUnpacked:
		return p, ErrPictureLarge
	}
	return p, nil
}

// measurePNG reads the header chunk, which is the first and always as long (PNG,
// third edition, 11.2.1): depth and interlace method have fixed places in it. A
// color of transparency can make four channels of whatever there is.
func measurePNG(data []byte) (PictureSize, error) {
	const depth, interlace = 24, 28
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || len(data) <= interlace {
		return PictureSize{}, fmt.Errorf("%w: %w", ErrNoPicture, err)
	}
	p := PictureSize{ContentType: "image/png", Width: c.Width, Height: c.Height, Memory: 4 * int64(c.Width) * int64(c.Height)}
	if data[depth] == 16 {
		p.Memory *= 2
	}
	if data[interlace] != 0 { // each of its passes is a picture, too
		p.Memory *= 2
	}
	return p, nil
}

// measureJPEG reads the segments up to the frame's (ISO/IEC 10918-1, B.1.1.4 and
// B.2.2). It wants one right behind the other, so that who unpacks it cannot
// find another frame.
func measureJPEG(data []byte) (PictureSize, error) {
	const sof0, sof2, rst0, eoi, sos = 0xc0, 0xc2, 0xd0, 0xd9, 0xda
	c, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return PictureSize{}, fmt.Errorf("%w: %w", ErrNoPicture, err)
	}
	// The pixels never hold this marker: they would be damaged. A thumbnail or a
	// color profile may, a few times.
	if bytes.Count(data, []byte{0xff, sos}) > maxScans {
		return PictureSize{}, ErrPictureLarge
	}
	for at := 2; at+10 <= len(data) && data[at] == 0xff; {
		if data[at+1] == 0xff { // fills up
			at++
			continue
		}
		marker, size := data[at+1], int(data[at+2])<<8|int(data[at+3])
		if marker >= sof0 && marker <= sof2 {
			p := frame(data[at+4:], marker == sof2, data)
			if p.Width != c.Width || p.Height != c.Height {
				break
			}
			return p, nil
		}
		if marker < sof0 || marker >= rst0 && marker <= eoi { // no segment
			break
		}
		at += 2 + size
	}
	return PictureSize{}, ErrNoPicture
}

// frame is the size of a JPEG by the segment of its frame.
func frame(segment []byte, progressive bool, data []byte) PictureSize {
	p := PictureSize{ContentType: "image/jpeg", Height: int(segment[1])<<8 | int(segment[2]), Width: int(segment[3])<<8 | int(segment[4])}
	channels := int64(segment[5])
	each := channels
	if progressive { // a coefficient of four bytes for each sample
		each += 4 * channels
	}
	if channels == 4 || adobe(data) || bytes.HasPrefix(segment[6:], []byte{'R'}) { // they are put into pixels of four bytes
		each += 4
	}
	const block = 32 // the largest that is set aside whole (A.2.4)
	whole := func(side int) int64 { return int64(side+block-1) / block * block }
	p.Memory = each * whole(p.Width) * whole(p.Height)
	return p
}

// adobe says whether there may be a segment that tells of other colors; it
// counts wherever it stands.
func adobe(data []byte) bool { return bytes.Contains(data, []byte("Adobe")) }
