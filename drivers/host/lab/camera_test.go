//go:build lab

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image/jpeg"
	"os"
	"testing"
	"time"

	"roomgate/drivers"
	"roomgate/drivers/webcam"
)

// The camera is the kernel's vivid, which is plugged in by binding it.
const (
	videoDevice = "/dev/video0"
	vividDriver = "/sys/bus/platform/drivers/vivid/"
	vividDevice = "vivid.0"
)

func cameraOptions() drivers.Options {
	return with(webcam.Kind(), func(o *webcam.Options) {
		o.Device, o.Format, o.Width, o.Height, o.Skip = videoDevice, drivers.PixelsYUYV, 640, 480, 1
		o.Timeout = 10 * time.Second
	})()
}

func plug(t *testing.T, how string) {
	t.Helper()
	if err := os.WriteFile(vividDriver+how, []byte(vividDevice), 0); err != nil {
		t.Fatal(err)
	}
}

func snapshot(ctx context.Context, d drivers.Driver) (drivers.Status, error) {
	a, _, _ := d.Describe().Action("", drivers.ActSnapshot)
	args, err := a.Parse(json.RawMessage(nil))
	if err != nil {
		return drivers.Status{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	return d.Do(ctx, drivers.Command{Action: drivers.ActSnapshot, Args: args})
}

// picture takes one that any browser shows.
func (r *room) picture(d drivers.Driver) {
	r.Helper()
	began := time.Now()
	s, err := snapshot(r.Context(), d)
	if err != nil || s.Picture == nil {
		r.Errorf("snapshot: %+v, %v", s, err)
		return
	}
	image, err := jpeg.Decode(bytes.NewReader(s.Picture.Data))
	if err != nil {
		r.Errorf("the picture is no JPEG: %v", err)
		return
	}
	r.Logf("note: %v, %d bytes in %v", image.Bounds().Size(), len(s.Picture.Data), time.Since(began).Round(time.Millisecond))
}

func TestCamera(t *testing.T) {
	t.Run("camera/v4l2/snapshot/none", func(t *testing.T) {
		r := newRoom(t)
		r.picture(r.open(cameraOptions()))
	})
	t.Run("camera/v4l2/poll/unplugged, plugged in again", cameraUnplugged)
	t.Run("camera/v4l2/snapshot/unplugged in a frame", cameraTornOff)
}

func cameraUnplugged(t *testing.T) {
	r := newRoom(t, newDoor())
	d, lock := r.open(cameraOptions()), r.open(lockOptions())
	r.within("at first", d, "", fine)
	plug(t, "unbind")
	r.within("unplugged", d, "", func(s drivers.Status) bool { return errors.Is(s.Err, drivers.ErrOffline) })
	r.within("the lock beside it", lock, "", fine)
	plug(t, "bind")
	r.within("plugged in again", d, "", fine)
	r.picture(d)
}

func cameraTornOff(t *testing.T) {
	r := newRoom(t)
	d := r.open(cameraOptions())
	over := make(chan error, 1)
	began := time.Now()
	go func() {
		_, err := snapshot(r.Context(), d)
		over <- err
	}()
	time.Sleep(60 * time.Millisecond)
	plug(t, "unbind")
	err := <-over
	t.Logf("note: %v after %v", err, time.Since(began).Round(time.Millisecond))
	if err == nil {
		t.Error("a picture came from a camera that was torn off")
	}
	if time.Since(began) > 12*time.Second {
		t.Errorf("the order hung for %v", time.Since(began))
	}
	plug(t, "bind")
	r.within("plugged in again", d, "", fine)
	r.picture(d)
}
