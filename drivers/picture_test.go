package drivers

import (
	"bytes"
	"errors"
	"image"
	"runtime"
	"testing"

	"roomgate/drivers/picturetest"
)

// pngOf is a PNG of nothing but its head and the begin of its pixels, which are
// zeros. All that unpacking needs is set aside before the first one is missing.
func pngOf(w, h int, depth, color, interlace byte) []byte {
	return picturetest.PNG(w, h, depth, color, interlace, 64)
}

// jpegOf is a JPEG of nothing but a frame and the begin of its scans, as pngOf.
func jpegOf(ids string, marker byte, w, h int, sampling []byte, scans int, before ...byte) []byte {
	b := append([]byte{0xff, 0xd8}, before...)
	b = append(b, 0xff, marker, 0, byte(8+3*len(sampling)), 8, byte(h>>8), byte(h), byte(w>>8), byte(w), byte(len(sampling)))
	for i, s := range sampling {
		b = append(b, ids[i], s, 0)
	}
	b = append(b, 0xff, 0xc4, 0, 20, 0, 1) // one code of one bit
	b = append(b, make([]byte, 16)...)
	for range scans {
		b = append(b, 0xff, 0xda, 0, byte(6+2*len(sampling)), byte(len(sampling)))
		for i := range sampling {
			b = append(b, ids[i], 0)
		}
		b = append(b, 0, map[bool]byte{true: 0, false: 63}[marker == 0xc2], 0, 0, 0)
	}
	return append(b, 0xff, 0xd9)
}

// unpacked is how many bytes unpacking sets aside.
func unpacked(data []byte) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, _ = image.Decode(bytes.NewReader(data))
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// slack is what unpacking takes besides the pixels: windows, tables, rows.
const slack = 1 << 20

var adobeTransform = append([]byte{0xff, 0xee, 0, 14}, "Adobe\x00\x64\x00\x00\x00\x00\x00"...)

func TestPicturesAreMeasured(t *testing.T) {
	full, thin, small := [2]int{3840, 2160}, [2]int{8294400, 1}, [2]int{3840, 1}
	rgb, sub, four := []byte{0x11, 0x11, 0x11}, []byte{0x42, 0x11, 0x11}, []byte{0x22, 0x11, 0x11, 0x22}
	for _, c := range []struct {
		what string
		data []byte
		ok   bool
	}{
		{"a whole screen", pngOf(full[0], full[1], 8, 6, 0), true},
		{"a whole screen, upright", pngOf(full[1], full[0], 8, 2, 0), true},
		{"of a palette", pngOf(full[0], full[1], 1, 3, 0), true},
		{"deep and small", pngOf(1920, 1080, 16, 6, 0), true},
		{"interlaced and small", pngOf(1920, 1080, 8, 6, 1), true},
		{"thin and deep, of 64 kB", pngOf(thin[0], thin[1], 16, 6, 0), false},
		{"thin and high", pngOf(thin[1], thin[0], 8, 0, 0), false},
		{"deep", pngOf(full[0], full[1], 16, 6, 0), false},
		{"deep, grey", pngOf(full[0], full[1], 16, 0, 0), false},
		{"interlaced", pngOf(full[0], full[1], 8, 6, 1), false},
		{"square", pngOf(3840, 3840, 8, 6, 0), false},
		{"four sides", pngOf(1<<31-1, 1, 1, 0, 0)[:60], false},
		{"jpeg", jpegOf("123K", 0xc0, full[0], full[1], []byte{0x22, 0x11, 0x11}, 1), true},
		{"jpeg of other colors", jpegOf("RGBK", 0xc0, full[0], full[1], rgb, 1), false},
		{"jpeg, grey", jpegOf("123K", 0xc0, full[0], full[1], rgb[:1], 1), true},
		{"jpeg of HD", jpegOf("123K", 0xc0, 1920, 1080, rgb, 1), true},
		{"jpeg, thin", jpegOf("123K", 0xc0, 65535, 1, sub, 1), false},
		{"jpeg, thin enough", jpegOf("123K", 0xc0, small[0], small[1], sub, 1), true},
		{"jpeg, high", jpegOf("123K", 0xc0, 1, 65535, sub, 1), false},
		{"progressive", jpegOf("123K", 0xc2, full[0], full[1], rgb, 1), false},
		{"progressive of HD", jpegOf("123K", 0xc2, 1920, 1080, rgb, 1), true},
		{"for print", jpegOf("123K", 0xc0, full[0], full[1], four, 1, adobeTransform...), false},
		{"for print, small", jpegOf("123K", 0xc0, 1280, 720, four, 1, adobeTransform...), true},
		{"for print, progressive", jpegOf("123K", 0xc2, 1920, 1080, four, 1, adobeTransform...), false},
		{"many scans", jpegOf("123K", 0xc2, 640, 480, rgb, 5000), false},
		{"filled up", jpegOf("123K", 0xc0, 8, 8, rgb, 1, 0xff, 0xff), true},
		{"something between", jpegOf("123K", 0xc0, 8, 8, rgb, 1, 0xff, 0xe1, 0, 2, 0), false},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		size, err := MeasurePicture(c.data)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > slack {
			t.Errorf("%s: measuring takes %d bytes", c.what, took)
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: %+v, %v", c.what, size, err)
			continue
		}
		if err != nil {
			continue
		}
		if took := unpacked(c.data); took > size.Memory+slack || took < size.Memory/20 {
			t.Errorf("%s: unpacking takes %d bytes, and %d were told", c.what, took, size.Memory)
		}
	}
	for _, no := range []string{"", "GIF89a", "\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "RIFF....WEBP", "<svg/>"} {
		if _, err := MeasurePicture([]byte(no)); !errors.Is(err, ErrNoPicture) {
			t.Errorf("%q: %v", no, err)
		}
	}
}

// FuzzMeasurePicture: unpacking takes no more than was told, whatever it is.
func FuzzMeasurePicture(f *testing.F) {
	f.Add(pngOf(64, 48, 16, 6, 1))
	f.Add(pngOf(100, 1, 1, 3, 0))
	f.Add(jpegOf("RGBK", 0xc2, 64, 48, []byte{0x22, 0x11, 0x11}, 3))
	f.Add(jpegOf("123K", 0xc0, 640, 1, []byte{0x42, 0x11, 0x11}, 1, adobeTransform...))
	f.Add(jpegOf("123K", 0xc0, 64, 64, []byte{0x22, 0x11, 0x11, 0x22}, 2, adobeTransform...))
	f.Fuzz(func(t *testing.T, data []byte) {
		size, err := MeasurePicture(data)
		if err != nil || size.Memory > 4<<20 { // else it is slow, and no different
			return
		}
		if took := unpacked(data); took > size.Memory+slack {
			t.Errorf("%+v takes %d bytes to unpack", size, took)
		}
	})
}
