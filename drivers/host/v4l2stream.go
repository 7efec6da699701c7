package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"roomgate/drivers"
)

const (
	frameBuffers = 4
	// maxBuffer bounds what a device may ask us to map for one frame.
	maxBuffer = 64 << 20
	// maxDamaged is how many frames may be damaged before one is whole.
	maxDamaged = 8
	// videoWait is how soon the end of a context is noticed.
	videoWait = 50 * time.Millisecond
)

var errDamaged = errors.New("camera sends damaged frames: look at its cable and its supply")

// pixelNames are the kernel's names, the usual one first.
var pixelNames = map[string][]string{
	drivers.PixelsMJPEG: {"MJPG", "JPEG"},
	drivers.PixelsYUYV:  {"YUYV"},
}

// stream is a device that is giving frames.
type stream struct {
	*video
	form    drivers.Frame // without data
	buffers [][]byte      // mapped
}

// frame starts the device, takes one frame and stops it.
func (v *video) frame(ctx context.Context, want drivers.FrameForm) (drivers.Frame, error) {
	s := &stream{video: v}
	if err := s.choose(want); err != nil {
		return drivers.Frame{}, err
	}
	defer s.stop()
	if err := s.start(); err != nil {
		return drivers.Frame{}, err
	}
	for damaged, good := 0, 0; damaged < maxDamaged; {
		data, err := s.next(ctx)
		switch {
		case errors.Is(err, errDamaged):
			damaged++
		case err != nil:
			return drivers.Frame{}, err
		case good == want.Skip:
			s.form.Data = data
			return s.form, nil
		default:
			good++
		}
	}
	return drivers.Frame{}, errDamaged
}

// choose sets the form of the frames. The device changes what it does not
// have to the nearest that it has, which we take but for the pixels.
func (s *stream) choose(want drivers.FrameForm) error {
	for _, name := range pixelNames[want.Pixels] {
		f := videoFormat{
			kind: bufVideoCapture, pixels: fourCC(name),
			width: uint32(want.Width), height: uint32(want.Height),
		}
		if err := ioctl(uintptr(s.fd), videoSetFormat, &f); err != nil && !errors.Is(err, syscall.EINVAL) {
			return err
		}
		if f.pixels == fourCC(name) && f.width > 0 && f.height > 0 {
			s.form = drivers.Frame{
				Pixels: want.Pixels, Width: int(f.width), Height: int(f.height),
				Stride: int(f.bytesPerLine), FullRange: f.quantization == fullRange,
			}
			return nil
		}
	}
	return fmt.Errorf("%q does not offer %s, try the other format", s.name, want.Pixels)
}

func (s *stream) start() error {
	r := videoRequest{count: frameBuffers, kind: bufVideoCapture, memory: memoryMMAP}
	if err := ioctl(uintptr(s.fd), videoReqBufs, &r); err != nil {
		return err
	}
	for i := range min(r.count, 2*frameBuffers) {
		b := videoBuffer{index: i, kind: bufVideoCapture, memory: memoryMMAP}
		if err := ioctl(uintptr(s.fd), videoQueryBuf, &b); err != nil {
			return err
		}
		if b.length > maxBuffer {
			return fmt.Errorf("%q wants %d bytes for a frame, choose a smaller one", s.name, b.length)
		}
		m, err := unix.Mmap(s.fd, int64(b.offset), int(b.length), unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		s.buffers = append(s.buffers, m)
		if err := ioctl(uintptr(s.fd), videoQBuf, &b); err != nil {
			return err
		}
	}
	kind := int32(bufVideoCapture)
	return ioctl(uintptr(s.fd), videoStreamOn, &kind)
}

// stop ends the stream. What fails here is ended by closing the device.
func (s *stream) stop() {
	kind := int32(bufVideoCapture)
	_ = ioctl(uintptr(s.fd), videoStreamOff, &kind)
	for _, m := range s.buffers {
		_ = unix.Munmap(m)
	}
}

// next waits for a frame and returns its data. It is errDamaged if the frame
// is not whole.
func (s *stream) next(ctx context.Context) ([]byte, error) {
	for {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		ready := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(ready, int(videoWait.Milliseconds())); n == 0 || errors.Is(err, syscall.EINTR) {
			continue
		} else if err != nil {
			return nil, err
		}
		b := videoBuffer{kind: bufVideoCapture, memory: memoryMMAP}
		err := ioctl(uintptr(s.fd), videoDQBuf, &b)
		switch {
		case err == nil:
			return s.take(b)
		case errors.Is(err, syscall.EIO):
			return nil, errDamaged
		case !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR):
			return nil, err
		case ready[0].Revents&unix.POLLERR != 0: // ready for ever, and nothing comes
			return nil, errors.New("it has stopped giving frames")
		}
	}
}

// take copies a frame and gives its buffer back.
func (s *stream) take(b videoBuffer) ([]byte, error) {
	if int(b.index) >= len(s.buffers) {
		return nil, errDamaged
	}
	data, err := whole(s.form, s.buffers[b.index], b)
	if e := ioctl(uintptr(s.fd), videoQBuf, &b); e != nil {
		return nil, e
	}
	return data, err
}

// whole returns a copy of what is in a buffer, if it is a whole frame.
func whole(form drivers.Frame, m []byte, b videoBuffer) ([]byte, error) {
	if b.flags&flagError != 0 || b.used == 0 || uint64(b.used) > uint64(len(m)) {
		return nil, errDamaged
	}
	data := m[:b.used]
	if form.Pixels == drivers.PixelsYUYV && (form.Stride < 2*form.Width || len(data)/form.Height < form.Stride) {
		return nil, errDamaged
	}
	return slices.Clone(data), nil
}
