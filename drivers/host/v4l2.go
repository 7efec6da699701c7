package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"roomgate/drivers"
)

// camera is a video device by its path. It is opened for each call, so that
// one that was unplugged and is back needs nothing, and its lamp is lit only
// while a picture is taken.
type camera struct {
	path    string
	release func()
	closed  atomic.Bool
}

// Camera takes a video device below /dev, there or not.
func (b *Board) Camera(path string) (drivers.Camera, error) {
	under, err := filepath.Rel("/dev", filepath.Clean(path))
	if err != nil || !filepath.IsAbs(path) || under == "." || strings.HasPrefix(under, "..") {
		return nil, fmt.Errorf("camera %q: %w, want a path of /dev as /dev/video0", path, drivers.ErrNoLine)
	}
	release, err := b.claim("camera "+path, path)
	if err != nil {
		return nil, err
	}
	return &camera{path: filepath.Join(b.dev, under), release: release}, nil
}

// Probe asks the device for its name.
func (c *camera) Probe(ctx context.Context) (string, error) {
	v, err := c.open(ctx)
	if err != nil {
		return "", err
	}
	defer v.close()
	return v.name, nil
}

// Frame takes one whole frame.
func (c *camera) Frame(ctx context.Context, want drivers.FrameForm) (drivers.Frame, error) {
	v, err := c.open(ctx)
	if err != nil {
		return drivers.Frame{}, err
	}
	defer v.close()
	f, err := v.frame(ctx, want)
	if err != nil {
		return drivers.Frame{}, c.explain(err)
	}
	return f, nil
}

// Close gives the device back.
func (c *camera) Close() error {
	if !c.closed.Swap(true) {
		c.release()
	}
	return nil
}

func (c *camera) open(ctx context.Context) (*video, error) {
	if c.closed.Load() {
		return nil, fmt.Errorf("camera %s: %w", c.path, drivers.ErrClosed)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	fd, err := unix.Open(c.path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, c.explain(err)
	}
	v := &video{fd: fd}
	if err := v.know(); err != nil {
		v.close()
		return nil, c.explain(err)
	}
	return v, nil
}

// explain knows that a camera that is not there is unplugged, rather than a
// line that this board never had.
func (c *camera) explain(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.ENXIO) {
		return fmt.Errorf("camera %s: %w: %w", c.path, drivers.ErrOffline, err)
	}
	return explain("camera "+c.path, err)
}

// video is an open video device.
type video struct {
	fd   int
	name string
}

func (v *video) close() { _ = unix.Close(v.fd) }

// know asks what the device is.
func (v *video) know() error {
	var c videoCapability
	err := ioctl(uintptr(v.fd), videoQueryCap, &c)
	if errors.Is(err, syscall.ENOTTY) || errors.Is(err, syscall.ENOSYS) { // the second is an emulator's word for it
		return errors.New("it is no video device")
	}
	if err != nil {
		return err
	}
	name, _, _ := bytes.Cut(c.card[:], []byte{0})
	v.name = string(name)
	caps := c.capabilities
	if caps&capDeviceCaps != 0 {
		caps = c.deviceCaps
	}
	if caps&capVideoCapture == 0 || caps&capStreaming == 0 {
		return fmt.Errorf("%q gives no pictures here, take the other path that it has", v.name)
	}
	return nil
}
