// Package qrtest reads QR codes with a decoder of others, as a phone does.
package qrtest

import (
	"image"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
)

// Read returns the text of the one code in a picture. The error says why nobody
// can read it.
//
// The decoder looks for the corners of the code as in a photo, and misses about
// one code in 250 whose modules happen to look like a corner: a phone has
// the next frame then, a picture without perspective is read once more as what it is.
func Read(p image.Image) (string, error) {
	bitmap, err := gozxing.NewBinaryBitmapFromImage(p)
	if err != nil {
		return "", err
	}
	reader := qrcode.NewQRCodeReader()
	got, err := reader.Decode(bitmap, nil)
	if err != nil {
		got, err = reader.Decode(bitmap, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
	}
	if err != nil {
		return "", err
	}
	return got.GetText(), nil
}
