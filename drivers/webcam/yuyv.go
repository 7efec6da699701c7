package webcam

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"

	"roomgate/drivers"
)

// quality is that of the pictures that we encode, of 100.
const quality = 85

// fromYUYV encodes a frame of which two pixels share their color.
func fromYUYV(f drivers.Frame) ([]byte, error) {
	if f.Width < 2 || f.Width%2 != 0 || f.Height < 1 || f.Stride < 2*f.Width || len(f.Data)/f.Height < f.Stride {
		return nil, fmt.Errorf("%d bytes are no %d by %d pixels", len(f.Data), f.Width, f.Height)
	}
	m := image.NewYCbCr(image.Rect(0, 0, f.Width, f.Height), image.YCbCrSubsampleRatio422)
	luma, chroma := levels(f.FullRange)
	for y := range f.Height {
		line := f.Data[y*f.Stride:][:2*f.Width]
		ys, bs, rs := m.Y[y*m.YStride:], m.Cb[y*m.CStride:], m.Cr[y*m.CStride:]
		for x := 0; x < len(line); x += 4 {
			ys[x/2], ys[x/2+1] = luma[line[x]], luma[line[x+2]]
			bs[x/4], rs[x/4] = chroma[line[x+1]], chroma[line[x+3]]
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: quality}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// levels turn those of video, 16 to 235 for light and 16 to 240 for color
// (ITU-R BT.601), into those of a JPEG, 0 to 255.
func levels(full bool) (luma, chroma [256]byte) {
	for i := range 256 {
		luma[i], chroma[i] = byte(i), byte(i)
		if !full {
			luma[i] = clamp(float64(i-16) * 255 / 219)
			chroma[i] = clamp(128 + float64(i-128)*255/224)
		}
	}
	return luma, chroma
}

func clamp(v float64) byte { return byte(max(0, min(255, v+0.5))) }
