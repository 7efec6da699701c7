package sim

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"time"
)

// TestCard is what every camera shows at t, as a JPEG: color bars, and below
// them the seconds of t in black and white, most significant first.
func TestCard(t time.Time) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, testImage(t), nil); err != nil {
		return nil
	}
	return b.Bytes()
}

func testImage(t time.Time) image.Image {
	const width, height, bars, bits = 640, 360, 8, 32
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range bars {
		ink := color.RGBA{uint8(255 * (i >> 1 & 1)), uint8(255 * (i >> 2 & 1)), uint8(255 * (i & 1)), 255}
		box := image.Rect(i*width/bars, 0, (i+1)*width/bars, height*3/4)
		draw.Draw(m, box, image.NewUniform(ink), image.Point{}, draw.Src)
	}
	for i := range bits {
		ink := color.Gray{uint8(255 * (t.Unix() >> (bits - 1 - i) & 1))}
		box := image.Rect(i*width/bits, height*3/4, (i+1)*width/bits, height)
		draw.Draw(m, box, image.NewUniform(ink), image.Point{}, draw.Src)
	}
	return m
}
