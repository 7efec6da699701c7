package sim

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"strconv"
	"sync"
	"time"

	"roomgate/drivers"
)

// frameTime is the time of one frame at 30 a second.
const frameTime = time.Second / 30

// Webcam is a USB camera at a path of /dev. It shows the same test picture as
// the network camera, of 640 by 360 pixels whatever it is asked for. A frame
// takes its time, and the camera may be unplugged in the middle of it.
type Webcam struct {
	Faults `yaml:"-"`
	Path   string `yaml:"path"`
	Pixels string `yaml:"pixels"` // mjpeg or yuyv, if it has but one of them

	holder
	mu     sync.Mutex
	cut    bool
	frames int
}

// Attach wires it into the world.
func (c *Webcam) Attach(w *World) error {
	if c.Pixels != "" && c.Pixels != drivers.PixelsMJPEG && c.Pixels != drivers.PixelsYUYV {
		return fmt.Errorf("pixels %q is not known: want mjpeg or yuyv", c.Pixels)
	}
	return place(w, w.cameras, c.Path, c)
}

// Camera takes a camera by its path.
func (w *World) Camera(path string) (drivers.Camera, error) {
	c, err := find(w, w.cameras, path)
	if err != nil {
		return nil, err
	}
	if err := c.take(path); err != nil {
		return nil, err
	}
	return &videoNode{grip: newGrip(&c.holder), cam: c}, nil
}

// Cut makes every frame end in its middle, as over a bad cable, or whole again.
func (c *Webcam) Cut(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
}

// Frames is how many frames were given away.
func (c *Webcam) Frames() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frames
}

// Verbs are what it obeys.
func (c *Webcam) Verbs(string) []Verb {
	return []Verb{
		Always("cut", "its frames end in the middle", func() { c.Cut(true) }),
		Always("whole", "its frames are whole", func() { c.Cut(false) }),
	}
}

// State says how it is.
func (c *Webcam) State() string { return strconv.Itoa(c.Frames()) + " frames so far" }

// videoNode is the camera as its driver holds it.
type videoNode struct {
	grip
	cam *Webcam
}

// Probe says what the camera is.
func (n *videoNode) Probe(ctx context.Context) (string, error) {
	return "simulated camera", n.pass(ctx)
}

// Frame gives a frame after those to be skipped.
func (n *videoNode) Frame(ctx context.Context, want drivers.FrameForm) (drivers.Frame, error) {
	if n.cam.Pixels != "" && n.cam.Pixels != want.Pixels {
		return drivers.Frame{}, fmt.Errorf("%s does not offer %s", n.cam.Path, want.Pixels)
	}
	for range want.Skip + 1 {
		timer := time.NewTimer(frameTime)
		for bell, over := n.cam.wait(), false; !over; bell = n.cam.wait() {
			if err := n.pass(ctx); err != nil {
				timer.Stop()
				return drivers.Frame{}, err
			}
			select {
			case <-timer.C:
				over = true
			case <-bell:
			case <-ctx.Done():
			}
		}
	}
	return n.cam.frame(want.Pixels), n.pass(ctx)
}

// pass is that of the faults, which ctx ends too.
func (n *videoNode) pass(ctx context.Context) error {
	if isDone(n.closed) {
		return fmt.Errorf("%s: %w", n.cam.Path, drivers.ErrClosed)
	}
	err := n.cam.clean(n.cam.Path, ctx.Done())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (c *Webcam) frame(pixels string) drivers.Frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := testImage(time.Now())
	f := drivers.Frame{Pixels: pixels, Width: m.Bounds().Dx(), Height: m.Bounds().Dy()}
	if f.Data = withoutTables(TestCard(time.Now())); pixels == drivers.PixelsYUYV {
		f.Data, f.Stride = yuyv(m), 2*f.Width+16 // lines may have a margin
	}
	if c.cut {
		f.Data = f.Data[:len(f.Data)/2]
	}
	c.frames++
	return f
}

// withoutTables is a JPEG as most cameras stream it: the Huffman tables, which
// are always the same, are left out.
func withoutTables(data []byte) []byte {
	for at := 2; at+4 <= len(data) && data[at] == 0xFF; {
		next := at + 2 + int(data[at+2])<<8 + int(data[at+3])
		if data[at+1] == 0xC4 {
			return append(data[:at:at], data[next:]...)
		}
		at = next
	}
	return data
}

// yuyv is a picture in the levels of video (ITU-R BT.601), with margins.
func yuyv(m image.Image) []byte {
	var data []byte
	b := m.Bounds()
	for y := range b.Dy() {
		for x := 0; x < b.Dx(); x += 2 {
			l, cb, cr := studio(m.At(x, y))
			r, _, _ := studio(m.At(x+1, y))
			data = append(data, l, cb, r, cr)
		}
		data = append(data, make([]byte, 16)...)
	}
	return data
}

// studio is a color in the levels of video.
func studio(c color.Color) (y, cb, cr byte) {
	r, g, b, _ := c.RGBA()
	l, u, v := color.RGBToYCbCr(byte(r>>8), byte(g>>8), byte(b>>8))
	return byte(16 + int(l)*219/255), byte(128 + (int(u)-128)*224/255), byte(128 + (int(v)-128)*224/255)
}
