package webcam

import (
	"context"
	"errors"
	"fmt"

	"roomgate/drivers"
	"roomgate/drivers/camera"
)

var errPicture = errors.New("camera sent a frame that cannot be used")

// webcam is the camera as a source of pictures.
type webcam struct {
	device drivers.Camera
	form   drivers.FrameForm
}

// Probe asks the camera for its name.
func (w *webcam) Probe(ctx context.Context) (string, error) {
	name, err := w.device.Probe(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("camera %q", name), nil
}

// Picture takes a frame and makes it a JPEG that every browser shows.
func (w *webcam) Picture(ctx context.Context) (camera.JPEG, error) {
	f, err := w.device.Frame(ctx, w.form)
	if err != nil {
		return camera.JPEG{}, err
	}
	data, err := encode(f)
	if err != nil {
		return camera.JPEG{}, fmt.Errorf("%w: %w", errPicture, err)
	}
	return camera.JPEG{Width: f.Width, Height: f.Height, Data: data}, nil
}

// Close gives the camera back.
func (w *webcam) Close() error { return w.device.Close() }

func encode(f drivers.Frame) ([]byte, error) {
	if f.Pixels == drivers.PixelsYUYV {
		return fromYUYV(f)
	}
	return fromMJPEG(f)
}
