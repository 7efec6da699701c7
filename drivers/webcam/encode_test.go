package webcam

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"testing"

	"pgregory.net/rapid"

	"roomgate/drivers"
)

// noise is a picture in which every byte counts.
func noise(t testing.TB, width, height int) drivers.Frame {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		m.Set(i%width, i/width, color.RGBA{byte(i * 7), byte(i * i), byte(i * 31), 255})
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return drivers.Frame{Pixels: drivers.PixelsMJPEG, Width: width, Height: height, Data: b.Bytes()}
}

func (f frame) without(from, to int) drivers.Frame {
	f.Data = append(bytes.Clone(f.Data[:from]), f.Data[to:]...)
	return drivers.Frame(f)
}

type frame drivers.Frame

// A frame that lost its end is never a picture.
func TestCutJPEG(t *testing.T) {
	whole := noise(t, 64, 48)
	if _, err := fromMJPEG(whole); err != nil {
		t.Fatal(err)
	}
	n := len(whole.Data)
	for end := 0; end < n-1; end += 5 {
		if _, err := fromMJPEG(frame(whole).without(end, n)); err == nil {
			t.Errorf("cut after %d of %d bytes it is a picture", end, n)
		}
	}
	// What is lost in the middle is marked by the kernel; here only much of it
	// can be seen.
	for from := n / 2; from < n-402; from += 13 {
		if _, err := fromMJPEG(frame(whole).without(from, from+400)); err == nil {
			t.Errorf("without bytes %d to %d of %d it is a picture", from, from+400, n)
		}
	}
}

func TestPaddingAndSize(t *testing.T) {
	f := noise(t, 64, 48)
	whole := len(f.Data)
	f.Data = append(f.Data, make([]byte, 300)...)
	if data, err := fromMJPEG(f); err != nil || len(data) != whole {
		t.Errorf("padded: %d bytes of %d, %v", len(data), whole, err)
	}
	f.Width = 80
	if _, err := fromMJPEG(f); err == nil {
		t.Error("a picture of another size was taken")
	}
}

func TestTablesAreAdded(t *testing.T) {
	f := noise(t, 64, 48)
	at, err := find(f.Data, markDHT)
	if err != nil {
		t.Fatal(err)
	}
	bare := frame(f).without(at, at+len(tables()))
	if _, err := jpeg.Decode(bytes.NewReader(bare.Data)); err == nil {
		t.Fatal("the tables were not left out")
	}
	if data, err := fromMJPEG(bare); err != nil || len(data) != len(f.Data) {
		t.Errorf("%d bytes of %d, %v", len(data), len(f.Data), err)
	}
}

func TestLevels(t *testing.T) {
	luma, chroma := levels(false)
	for _, c := range []struct{ got, want byte }{
		{luma[0], 0}, {luma[16], 0}, {luma[235], 255}, {luma[255], 255},
		{chroma[16], 1}, {chroma[128], 128}, {chroma[240], 255},
	} {
		if max(c.got, c.want)-min(c.got, c.want) > 1 {
			t.Errorf("got %d, want %d", c.got, c.want)
		}
	}
	if luma, _ := levels(true); luma[16] != 16 {
		t.Error("full range is changed")
	}
}

// Whatever the numbers say, there is an error or a picture of that size.
func TestYUYVOfAnySize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(-2, 40)
		f := drivers.Frame{
			Width: n.Draw(t, "width"), Height: n.Draw(t, "height"), Stride: n.Draw(t, "stride"),
			Data: make([]byte, rapid.IntRange(0, 2000).Draw(t, "bytes")),
		}
		data, err := fromYUYV(f)
		if err != nil {
			return
		}
		c, err := jpeg.DecodeConfig(bytes.NewReader(data))
		if err != nil || c.Width != f.Width || c.Height != f.Height {
			t.Errorf("%d by %d becomes %d by %d, %v", f.Width, f.Height, c.Width, c.Height, err)
		}
	})
}

func FuzzFromMJPEG(f *testing.F) {
	f.Add(noise(f, 16, 16).Data)
	f.Add([]byte{0xff, markSOI, 0xff, markEOI})
	f.Add([]byte{0xff, markSOI, 0xff, markSOS, 0, 0, 0xff, markEOI})
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, err := fromMJPEG(drivers.Frame{Width: 16, Height: 16, Data: data})
		if err != nil {
			return
		}
		if _, err := jpeg.Decode(bytes.NewReader(whole)); err != nil {
			t.Error(err)
		}
	})
}

// A camera that says JPEG and sends something that takes minutes or a lot of
// memory is refused before it is unpacked.
func TestHostileFrames(t *testing.T) {
	f := noise(t, 64, 48)
	at, err := find(f.Data, markSOS)
	if err != nil {
		t.Fatal(err)
	}
	scan := f.Data[at : len(f.Data)-2]
	many := bytes.Join([][]byte{f.Data[:at], bytes.Repeat(scan, 40), {0xff, markEOI}}, nil)
	wide := bytes.Clone(f.Data)
	frame := bytes.Index(wide, []byte{0xff, 0xc0})
	copy(wide[frame+5:], []byte{0x10, 0, 0x10, 0}) // 4096 by 4096
	wide[frame+1] = 0xc2                           // progressive
	for what, c := range map[string]drivers.Frame{"many scans": {Width: 64, Height: 48, Data: many}, "large": {Width: 4096, Height: 4096, Data: wide}} {
		if _, err := fromMJPEG(c); !errors.Is(err, drivers.ErrPictureLarge) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
