package api

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/device"
	"roomgate/drivers"
	"roomgate/drivers/picturetest"
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
		if !b.server.pictures.Take(t.Context(), "eve") {
			t.Fatal("a picture is being read")
		}
		go func() { // and again
			if b.server.pictures.Take(t.Context(), "eve") {
				b.server.pictures.Done()
			}
		}()
		synctest.Wait()
		checkProblem(t, "while another takes too long", b.ask("POST", path, "Content-Type: image/png", cutOff), 503, "unavailable", "")
		go func() { time.Sleep(time.Second); b.server.pictures.Done() }()
		if got := b.ask("POST", path, "Content-Type: image/png", picture(t, 320, 200)); got.StatusCode != 200 {
			t.Errorf("after another: %d %s", got.StatusCode, got.body)
		}
		b.ask("POST", "/devices/borealis-display/disable")
		checkProblem(t, "of a disabled display", b.ask("POST", path, "Content-Type: image/png", cutOff), 409, "not_now", "")
	})
}

// allocated is how many bytes f sets aside.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// repacking is what packing a picture takes besides unpacking it: the kept
// picture as it grows, and the tables of a compressor.
const repacking = 4*maxRepacked + 4<<20

// TestPictureBombs: what takes more memory than a screen is refused before any
// of it is set aside, with a key of the room display's kind.
func TestPictureBombs(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const path = "/meetingspace/" + borealis + "/screenshot"
		for what, bomb := range map[string][]byte{
			"thin and deep": picturetest.PNG(8294400, 1, 16, 2, 0, 1),
			"thin and high": picturetest.PNG(1, 2000000, 8, 0, 0, 2000000),
			"deep":          picturetest.PNG(3840, 2160, 16, 6, 0, 2160),
		} {
			var got answer
			if took := allocated(func() { got = b.ask("POST", path, "Content-Type: image/png", string(bomb)) }); took > 8<<20 {
				t.Errorf("%s: %d bytes of it took %d MB to refuse", what, len(bomb), took>>20)
			}
			checkProblem(t, what, got, 413, "payload_too_large", "")
		}
		var got answer
		whole := string(picturetest.PNG(3840, 2160, 8, 6, 0, 2160))
		if took := allocated(func() { got = b.ask("POST", path, "Content-Type: image/png", whole) }); took > drivers.MaxUnpacked+repacking || got.StatusCode != 200 {
			t.Errorf("a whole screen took %d MB: %d %s", took>>20, got.StatusCode, got.body)
		}
	})
}

// TestPicturesArePackedWithinBounds: what does not pack well is not kept whole.
func TestPicturesArePackedWithinBounds(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 2000, 1500))
	_, _ = rand.NewChaCha8([32]byte{}).Read(m.Pix)
	var body bytes.Buffer
	pack := png.Encoder{CompressionLevel: png.NoCompression} // noise packs to nothing less
	if err := pack.Encode(&body, m); err != nil {
		t.Fatal(err)
	}
	if took := allocated(func() {
		if _, err := repack(body.Bytes(), "image/png"); device.AsError(err) == nil || device.AsError(err).Code != tooLarge {
			t.Errorf("%d bytes: %v", body.Len(), err)
		}
	}); took > drivers.MaxUnpacked+repacking {
		t.Errorf("it took %d MB", took>>20)
	}
}

// FuzzRepack: whatever is taken is a picture afterwards, and takes no more
// memory than its head says.
func FuzzRepack(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Add([]byte("\xff\xd8\xff"))
	f.Add(picturetest.PNG(30, 20, 16, 0, 0, 20))
	f.Add(picturetest.PNG(300, 1, 1, 3, 0, 1))
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewRGBA(image.Rect(0, 0, 40, 24)), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(photo.Bytes())
	f.Fuzz(func(t *testing.T, body []byte) {
		size, err := drivers.MeasurePicture(body)
		if err != nil || size.Memory > 1<<20 {
			return
		}
		var p *drivers.Picture
		took := allocated(func() { p, err = repack(body, size.ContentType) })
		if took > uint64(size.Memory)+12<<20 {
			t.Errorf("%+v took %d MB", size, took>>20)
		}
		if err != nil {
			return
		}
		if _, _, err := image.Decode(bytes.NewReader(p.Data)); err != nil {
			t.Errorf("what was kept is no picture: %v", err)
		}
	})
}
