// Package qrtest reads QR codes with a decoder of others, as a phone does.
package qrtest

import (
	"image"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
)

// Read returns the text of the one code in a picture. The error says why nobody
// can read it.
func Read(p image.Image) (string, error) {
	bitmap, err := gozxing.NewBinaryBitmapFromImage(p)
	if err != nil {
		return "", err
	}
	got, err := qrcode.NewQRCodeReader().Decode(bitmap, nil)
	if err != nil {
		return "", err
	}
	return got.GetText(), nil
}
