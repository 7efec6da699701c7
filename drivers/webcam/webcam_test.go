package webcam_test

import (
	"bytes"
	"errors"
	"image/color"
	"image/jpeg"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/drivers"
	"roomgate/drivers/drivertest"
	"roomgate/drivers/sim"
	"roomgate/drivers/webcam"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const path = "/dev/v4l/by-id/usb-cam-video-index0"

func options() *webcam.Options {
	o := webcam.Kind().Options().(*webcam.Options)
	o.Device = path
	return o
}

func TestConformance(t *testing.T) {
	bad := func(name string, change func(*webcam.Options)) drivertest.Bad {
		return drivertest.Bad{Field: name, Change: func(o drivers.Options) { change(o.(*webcam.Options)) }}
	}
	for _, format := range []string{drivers.PixelsMJPEG, drivers.PixelsYUYV} {
		t.Run(format, func(t *testing.T) {
			drivertest.Run(t, drivertest.Case{
				Kind: webcam.Kind(),
				Options: func() drivers.Options {
					o := options()
					o.Format = format
					return o
				},
				Parts: func() []sim.Part { return []sim.Part{&sim.Webcam{Path: path}} },
				Bad: []drivertest.Bad{
					bad("device", func(o *webcam.Options) { o.Device = "" }),
					bad("device", func(o *webcam.Options) { o.Device = "/dev/../etc/passwd" }),
					bad("format", func(o *webcam.Options) { o.Format = "h264" }),
					bad("width", func(o *webcam.Options) { o.Width = 0 }),
					bad("height", func(o *webcam.Options) { o.Height = 5000 }),
					bad("skip", func(o *webcam.Options) { o.Skip = -1 }),
					bad("timeout", func(o *webcam.Options) { o.Timeout = 0 }),
					bad("start", func(o *webcam.Options) { o.Start = "" }),
				},
			})
		})
	}
}

// with runs a test in virtual time on a camera and its driver.
func with(t *testing.T, p *sim.Webcam, o *webcam.Options, test func(t *testing.T, d drivers.Driver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld()
		defer w.Close()
		if err := w.Add("room", "camera", p); err != nil {
			t.Fatal(err)
		}
		d, err := o.Open(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		test(t, d)
	})
}

func snapshot(t *testing.T, d drivers.Driver) (drivers.Status, error) {
	t.Helper()
	return d.Do(t.Context(), drivers.Command{Action: drivers.ActSnapshot})
}

// The picture has the bars of the test picture in their colors, whatever way
// it took.
func TestPictureHasItsColors(t *testing.T) {
	for _, format := range []string{drivers.PixelsMJPEG, drivers.PixelsYUYV} {
		o := options()
		o.Format = format
		with(t, &sim.Webcam{Path: path}, o, func(t *testing.T, d drivers.Driver) {
			s, err := snapshot(t, d)
			if err != nil {
				t.Fatal(err)
			}
			m, err := jpeg.Decode(bytes.NewReader(s.Picture.Data))
			if err != nil {
				t.Fatal(err)
			}
			if m.Bounds().Dx() != 640 || m.Bounds().Dy() != 360 || s.Details["width"] != 640 {
				t.Fatalf("%v, details %v", m.Bounds(), s.Details)
			}
			for i := range 8 {
				want := color.RGBA{uint8(255 * (i >> 1 & 1)), uint8(255 * (i >> 2 & 1)), uint8(255 * (i & 1)), 255}
				if got := m.At(i*80+40, 100); !near(got, want) {
					t.Errorf("%s: bar %d is %v, want %v", format, i, got, want)
				}
			}
		})
	}
}

func near(a, b color.Color) bool {
	r, g, bl, _ := a.RGBA()
	r2, g2, b2, _ := b.RGBA()
	for _, d := range []int{int(r) - int(r2), int(g) - int(g2), int(bl) - int(b2)} {
		if max(d, -d) > 12<<8 {
			return false
		}
	}
	return true
}

func TestCutFrameIsNoPicture(t *testing.T) {
	for _, format := range []string{drivers.PixelsMJPEG, drivers.PixelsYUYV} {
		p, o := &sim.Webcam{Path: path}, options()
		o.Format = format
		with(t, p, o, func(t *testing.T, d drivers.Driver) {
			p.Cut(true)
			s, err := snapshot(t, d)
			if err == nil || s.Picture != nil || errors.Is(err, drivers.ErrOffline) {
				t.Errorf("%s: %v, picture %t", format, err, s.Picture != nil)
			}
			p.Cut(false)
			if _, err := snapshot(t, d); err != nil {
				t.Errorf("%s: whole again: %v", format, err)
			}
		})
	}
}

func TestUnpluggedInTheMiddleOfAFrame(t *testing.T) {
	p := &sim.Webcam{Path: path}
	with(t, p, options(), func(t *testing.T, d drivers.Driver) {
		time.AfterFunc(150*time.Millisecond, p.Unplug)
		began := time.Now()
		_, err := snapshot(t, d)
		if !errors.Is(err, drivers.ErrOffline) || time.Since(began) != 150*time.Millisecond {
			t.Errorf("after %v: %v, want ErrOffline at once", time.Since(began), err)
		}
		if _, err := d.Poll(t.Context()); !errors.Is(err, drivers.ErrOffline) {
			t.Errorf("Poll: %v, want ErrOffline", err)
		}
		p.Plug()
		if s, err := snapshot(t, d); err != nil || s.Picture == nil {
			t.Errorf("plugged in again: %v", err)
		}
	})
}

func TestPrivacyTakesNoFrame(t *testing.T) {
	p, o := &sim.Webcam{Path: path}, options()
	o.Start = drivers.Off
	with(t, p, o, func(t *testing.T, d drivers.Driver) {
		if _, err := snapshot(t, d); err == nil {
			t.Error("a picture although it is off")
		}
		if s, err := d.Poll(t.Context()); err != nil || s[0].Value != drivers.Off || !strings.Contains(s[0].Source, "simulated") {
			t.Errorf("%+v, %v", s, err)
		}
		if p.Frames() != 0 {
			t.Errorf("%d frames were taken", p.Frames())
		}
	})
}

func TestFormatThatTheCameraLacks(t *testing.T) {
	with(t, &sim.Webcam{Path: path, Pixels: drivers.PixelsYUYV}, options(), func(t *testing.T, d drivers.Driver) {
		if _, err := snapshot(t, d); err == nil || !strings.Contains(err.Error(), "does not offer mjpeg") {
			t.Errorf("got %v", err)
		}
	})
}
