package webcam

import (
	"context"
	"path"
	"strings"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/camera"
)

// Options are one camera, as the configuration spells it; see the package.
type Options struct {
	Device  string        `yaml:"device"`
	Format  string        `yaml:"format"`
	Width   int           `yaml:"width"`
	Height  int           `yaml:"height"`
	Skip    int           `yaml:"skip"`
	Timeout time.Duration `yaml:"timeout"`
	Start   string        `yaml:"start"`
}

// Kind is the driver as the configuration names it.
func Kind() drivers.Kind {
	return drivers.Kind{
		Name:    "camera-usb",
		Type:    drivers.TypeCamera,
		Summary: "a camera on usb, or any other that linux has at /dev/video",
		Options: func() drivers.Options {
			return &Options{
				Format: drivers.PixelsMJPEG, Width: 1280, Height: 720, Skip: 5,
				Timeout: 5 * time.Second, Start: drivers.On,
			}
		},
	}
}

// Check refuses values out of range with a *drivers.FieldError.
func (o *Options) Check() error {
	switch {
	case !strings.HasPrefix(o.Device, "/dev/") || path.Clean(o.Device) != o.Device:
		return refuse("device", "is not a path of /dev: want one as /dev/video0, or better of /dev/v4l/by-id")
	case o.Format != drivers.PixelsMJPEG && o.Format != drivers.PixelsYUYV:
		return drivers.Unknown("format", o.Format, "mjpeg or yuyv")
	case o.Width < 16 || o.Width > 4096:
		return refuse("width", "is out of range: want 16 to 4096")
	case o.Height < 16 || o.Height > 4096:
		return refuse("height", "is out of range: want 16 to 4096")
	case o.Skip < 0 || o.Skip > 60:
		return refuse("skip", "is out of range: want 0 to 60")
	case o.Timeout < 100*time.Millisecond || o.Timeout > time.Minute:
		return refuse("timeout", "is out of range: want 100ms to 1m")
	case o.Start != drivers.On && o.Start != drivers.Off:
		return drivers.Unknown("start", o.Start, "on or off")
	}
	return nil
}

func refuse(field, problem string) error {
	return &drivers.FieldError{Field: field, Problem: problem}
}

// Open returns the camera without looking for it: one that is away is
// offline, not an error.
func (o *Options) Open(_ context.Context, b drivers.Buses) (drivers.Driver, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	device, err := b.Camera(o.Device)
	if err != nil {
		return nil, err
	}
	w := &webcam{device, drivers.FrameForm{Pixels: o.Format, Width: o.Width, Height: o.Height, Skip: o.Skip}}
	return camera.New(Kind(), w, o.Timeout, o.Start == drivers.On), nil
}
