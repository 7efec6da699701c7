package camera

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"testing"
)

func sample(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCheck(t *testing.T) {
	good := sample(t, 32, 16)
	huge := bytes.Clone(good)
	at := bytes.Index(huge, []byte{0xff, 0xc0}) + 5 // height and width in SOF0
	copy(huge[at:], []byte{0xff, 0xff, 0xff, 0xff})
	for name, c := range map[string]struct {
		data []byte
		ok   bool
	}{
		"whole":            {good, true},
		"padded":           {append(bytes.Clone(good), make([]byte, 512)...), true},
		"padded too much":  {append(bytes.Clone(good), make([]byte, maxPadding+1)...), false},
		"without its end":  {good[:len(good)-2], false},
		"half":             {good[:len(good)/2], false},
		"empty":            {nil, false},
		"only the markers": {[]byte{0xff, 0xd8, 0xff, 0xd9}, false},
		"a page":           {[]byte("<html>"), false},
		"too many pixels":  {huge, false},
	} {
		p, err := check(c.data)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, errPicture) {
			t.Errorf("%s: %v", name, err)
		}
		if c.ok && (p.Width != 32 || p.Height != 16 || !bytes.Equal(p.Data, good)) {
			t.Errorf("%s: %d by %d, %d bytes, want 32 by 16, %d bytes", name, p.Width, p.Height, len(p.Data), len(good))
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(sample(f, 8, 8))
	f.Add([]byte{0xff, 0xd8, 0xff, 0xd9})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := check(data)
		if err != nil {
			return
		}
		if p.Width < 1 || p.Height < 1 || p.Width*p.Height > maxPixels {
			t.Errorf("accepted %d by %d pixels", p.Width, p.Height)
		}
		if len(p.Data) > len(data) || !bytes.HasSuffix(p.Data, []byte{0xff, 0xd9}) {
			t.Errorf("of %d bytes it kept %d, to % x", len(data), len(p.Data), p.Data[max(0, len(p.Data)-2):])
		}
	})
}
