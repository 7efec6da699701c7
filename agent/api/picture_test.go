package api

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"strings"
	"testing"
)

// samePicture says whether two files show the same.
func samePicture(t *testing.T, a, b string) bool {
	t.Helper()
	one, _, err1 := image.Decode(strings.NewReader(a))
	other, _, err2 := image.Decode(strings.NewReader(b))
	if err1 != nil || err2 != nil || one.Bounds() != other.Bounds() {
		return false
	}
	for y := range one.Bounds().Dy() {
		for x := range one.Bounds().Dx() {
			if color.RGBAModel.Convert(one.At(x, y)) != color.RGBAModel.Convert(other.At(x, y)) {
				return false
			}
		}
	}
	return true
}

// A page may send a screenshot by itself; only the picture in it is kept.
func TestScreenshotThatNobodyAskedFor(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const path = "/meetingspace/" + borealis + "/screenshot"
		const hidden = "<script>alert(1)</script>"
		sent := picture(t, 320, 200) + hidden
		if got := b.ask("POST", path, "Content-Type: image/png", sent); got.StatusCode != 200 || got.body != `{"orders":[]}` {
			t.Fatalf("upload: %d %s", got.StatusCode, got.body)
		}
		if got := b.ask("GET", path); strings.Contains(got.body, hidden) || !samePicture(t, got.body, sent) {
			t.Errorf("what was kept: %d, %d bytes of %d", got.StatusCode, len(got.body), len(sent))
		}
		var photo bytes.Buffer
		if err := jpeg.Encode(&photo, image.NewRGBA(image.Rect(0, 0, 64, 48)), nil); err != nil {
			t.Fatal(err)
		}
		note := "\xff\xfe\x00\x1b" + hidden // a comment segment (JPEG, ITU-T T.81, B.2.4.5)
		with := photo.String()[:2] + note + photo.String()[2:]
		if got := b.ask("POST", path, "Content-Type: image/png", with); got.StatusCode != 200 {
			t.Errorf("a JPEG that is called PNG: %d %s", got.StatusCode, got.body)
		}
		if got := b.ask("GET", path); strings.Contains(got.body, hidden) || got.Header.Get("Content-Type") != "image/jpeg" {
			t.Errorf("what was kept of a JPEG: %s, %d bytes", got.Header.Get("Content-Type"), len(got.body))
		}
		cutOff := picture(t, 320, 200)
		checkProblem(t, "damaged", b.ask("POST", path, "Content-Type: image/png", cutOff[:len(cutOff)/2]), 415, "unsupported_media_type", "")
		checkProblem(t, "no display", b.ask("POST", "/meetingspace/"+aurora+"/screenshot", "Content-Type: image/png", cutOff), 404, "not_found", "device_type")
		b.server.pictures.TryAcquire(1)
		checkProblem(t, "two at once", b.ask("POST", path, "Content-Type: image/png", cutOff), 503, "unavailable", "")
		b.server.pictures.Release(1)
		b.ask("POST", "/devices/borealis-display/disable")
		checkProblem(t, "of a disabled display", b.ask("POST", path, "Content-Type: image/png", cutOff), 409, "not_now", "")
	})
}

// FuzzRepack: whatever is taken is a picture afterwards.
func FuzzRepack(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Add([]byte("\xff\xd8\xff"))
	f.Fuzz(func(t *testing.T, body []byte) {
		size, format, err := image.DecodeConfig(bytes.NewReader(body))
		if err != nil || size.Width*size.Height > 1<<16 {
			return
		}
		p, err := repack(body, format)
		if err != nil {
			return
		}
		if _, _, err := image.Decode(bytes.NewReader(p.Data)); err != nil {
			t.Errorf("what was kept is no picture: %v", err)
		}
	})
}
