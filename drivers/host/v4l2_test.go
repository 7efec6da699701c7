package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"roomgate/drivers"
)

// The numbers of include/uapi/linux/videodev2.h.
func TestVideoNumbers(t *testing.T) {
	format, buffer := uint(0xcc), uint(0x50)
	if pointerSize == 8 {
		format, buffer = 0xd0, 0x58
	}
	for name, c := range map[string]struct{ got, want uint }{
		"VIDIOC_QUERYCAP":  {videoQueryCap, 0x80685600},
		"VIDIOC_S_FMT":     {videoSetFormat, 0xc0005605 | format<<16},
		"VIDIOC_REQBUFS":   {videoReqBufs, 0xc0145608},
		"VIDIOC_QUERYBUF":  {videoQueryBuf, 0xc0005609 | buffer<<16},
		"VIDIOC_QBUF":      {videoQBuf, 0xc000560f | buffer<<16},
		"VIDIOC_DQBUF":     {videoDQBuf, 0xc0005611 | buffer<<16},
		"VIDIOC_STREAMON":  {videoStreamOn, 0x40045612},
		"VIDIOC_STREAMOFF": {videoStreamOff, 0x40045613},
		"YUYV":             {uint(fourCC("YUYV")), 0x56595559},
	} {
		if c.got != c.want {
			t.Errorf("%s is %#x, want %#x", name, c.got, c.want)
		}
	}
	var f videoFormat
	var b videoBuffer
	for name, c := range map[string]struct{ got, want uintptr }{
		"format.pix":            {unsafe.Offsetof(f.width), pointerSize},
		"format.pixelformat":    {unsafe.Offsetof(f.pixels), pointerSize + 8},
		"format.bytesperline":   {unsafe.Offsetof(f.bytesPerLine), pointerSize + 16},
		"format.quantization":   {unsafe.Offsetof(f.quantization), pointerSize + 40},
		"buffer.flags":          {unsafe.Offsetof(b.flags), 12},
		"buffer.timestamp":      {unsafe.Offsetof(b.seconds), 24},
		"buffer.memory":         {unsafe.Offsetof(b.memory), 60},
		"buffer.m":              {unsafe.Offsetof(b.offset), 64},
		"buffer.length":         {unsafe.Offsetof(b.length), 64 + pointerSize},
		"capability.devicecaps": {unsafe.Offsetof(videoCapability{}.deviceCaps), 88},
	} {
		if c.got != c.want {
			t.Errorf("%s is at %d, want %d", name, c.got, c.want)
		}
	}
}

func TestWhole(t *testing.T) {
	yuyv := drivers.Frame{Pixels: drivers.PixelsYUYV, Width: 4, Height: 2, Stride: 10}
	narrow := yuyv
	narrow.Stride = 6
	m := make([]byte, 32)
	for name, c := range map[string]struct {
		form   drivers.Frame
		buffer videoBuffer
		want   int // bytes, 0: damaged
	}{
		"whole":              {yuyv, videoBuffer{used: 20}, 20},
		"a little more":      {yuyv, videoBuffer{used: 32}, 32},
		"ends in the middle": {yuyv, videoBuffer{used: 18}, 0},
		"marked as damaged":  {yuyv, videoBuffer{used: 20, flags: flagError}, 0},
		"more than there is": {yuyv, videoBuffer{used: 33}, 0},
		"absurd":             {yuyv, videoBuffer{used: 1<<32 - 1}, 0},
		"narrow lines":       {narrow, videoBuffer{used: 20}, 0},
		"empty":              {drivers.Frame{Pixels: drivers.PixelsMJPEG}, videoBuffer{}, 0},
		"jpeg":               {drivers.Frame{Pixels: drivers.PixelsMJPEG}, videoBuffer{used: 7}, 7},
	} {
		data, err := whole(c.form, m, c.buffer)
		if len(data) != c.want || errors.Is(err, errDamaged) != (c.want == 0) {
			t.Errorf("%s: %d bytes, %v, want %d", name, len(data), err, c.want)
		}
	}
}

func TestCameraPaths(t *testing.T) {
	b := empty(t)
	for _, path := range []string{"", "video0", "/video0", "/dev", "/dev/../etc/passwd", "../dev/video0"} {
		if _, err := b.Camera(path); !errors.Is(err, drivers.ErrNoLine) {
			t.Errorf("%q: %v, want ErrNoLine", path, err)
		}
	}
	c, err := b.Camera("/dev/v4l/by-id/usb-cam-index0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Camera("/dev/v4l/by-id/usb-cam-index0"); !errors.Is(err, drivers.ErrInUse) {
		t.Errorf("taken twice: %v, want ErrInUse", err)
	}
	if _, err := c.Probe(t.Context()); !errors.Is(err, drivers.ErrOffline) {
		t.Errorf("a camera that is not there: %v, want ErrOffline", err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if _, err := c.Frame(t.Context(), drivers.FrameForm{}); !errors.Is(err, drivers.ErrClosed) {
		t.Errorf("closed: %v, want ErrClosed", err)
	}
}

func TestNotACamera(t *testing.T) {
	b := empty(t)
	if err := os.WriteFile(filepath.Join(b.dev, "video0"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := b.Camera("/dev/video0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "no video device") {
		t.Errorf("a file: %v", err)
	}
}

// TestCameraOfThisMachine takes pictures from a camera, where
// ROOMGATE_TEST_CAMERA names one.
func TestCameraOfThisMachine(t *testing.T) {
	path := os.Getenv("ROOMGATE_TEST_CAMERA")
	if path == "" {
		t.Skip("ROOMGATE_TEST_CAMERA names no camera")
	}
	b := New()
	defer b.Close()
	c, err := b.Camera(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	name, err := c.Probe(t.Context())
	t.Logf("camera %q, %v", name, err)
	if name == "" || err != nil {
		t.Fatal(err)
	}
	offered := 0
	for pixels := range pixelNames {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		f, err := c.Frame(ctx, drivers.FrameForm{Pixels: pixels, Width: 640, Height: 480, Skip: 2})
		cancel()
		t.Logf("%s: %d by %d, stride %d, full range %t, %d bytes, %v", pixels, f.Width, f.Height, f.Stride, f.FullRange, len(f.Data), err)
		if err == nil {
			offered++
		} else if !strings.Contains(err.Error(), "does not offer") {
			t.Error(err)
		}
	}
	if offered == 0 {
		t.Error("the camera offers no form that we know")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := c.Frame(ctx, drivers.FrameForm{Pixels: drivers.PixelsYUYV, Width: 640, Height: 480, Skip: 100}); err == nil {
		t.Error("a frame within a millisecond")
	}
}
