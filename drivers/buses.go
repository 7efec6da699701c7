package drivers

import (
	"context"
	"io"
	"net"
	"time"

	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"
)

// Buses is the board as a driver sees it: every line, channel and bus by the
// name that the configuration gives. Asking for a line that another driver
// holds fails with ErrInUse, for one that the board lacks with ErrNoLine.
type Buses interface {
	// Output takes a line and drives it to initial in the same step, so that
	// nothing pulses at start.
	Output(line string, initial bool) (Output, error)
	// Input takes a line for reading.
	Input(line string, pull Pull) (Input, error)
	// Pulses takes a line on which somebody else sends lows too short for both
	// their ends to be told apart, as a keypad does: Edges reports the
	// beginning of each, with High false, and nothing else.
	Pulses(line string, pull Pull) (Input, error)
	// PWM takes a channel; it starts with duty 0.
	PWM(channel string, frequency physic.Frequency) (PWM, error)
	// I2C returns a bus that several drivers may share.
	I2C(bus string) (i2c.Bus, error)
	// SPI takes a port for one device.
	SPI(port string, frequency physic.Frequency, mode spi.Mode) (SPI, error)
	// Camera takes a video device by its path, as "/dev/video0" or one of
	// /dev/v4l/by-id. One that is away now is no error: it is looked for with
	// each call.
	Camera(path string) (Camera, error)
	// Dial reaches a device on the network. network is "tcp" or "udp",
	// address is host:port.
	Dial(ctx context.Context, network, address string) (net.Conn, error)
	// Page is the browser page of a room display, by name. It is made on
	// first use and never nil.
	Page(name string) *Page
}

// Output is a line that we drive. Its level is what was last set without an
// error: no output is ever read back from the pin.
type Output interface {
	Set(high bool) error
	io.Closer // leaves the level as it is
}

// Input is a line that somebody else drives.
type Input interface {
	// Read returns the level now; an error is never a level.
	Read() (high bool, err error)
	// Edges calls f for each change until ctx ends, and returns ctx's error,
	// or what ended it. Edges that came before the call are not reported. One
	// caller at a time.
	Edges(ctx context.Context, f func(Edge)) error
	io.Closer
}

// Edge is a change of an input line.
type Edge struct {
	High bool
	At   time.Time
}

// Pull is the bias of an input line.
type Pull int

// The biases that boards offer.
const (
	PullNone Pull = iota
	PullUp
	PullDown
)

// PWM is a channel that we drive with a share of on-time.
type PWM interface {
	// SetDuty sets the share of on-time, 0 to 1.
	SetDuty(share float64) error
	// Duty reads the share back from the channel.
	Duty() (float64, error)
	io.Closer // leaves the duty as it is
}

// SPI is a port connected with one device's speed and mode.
type SPI interface {
	// Tx writes w and reads as many bytes into r (nil: what comes is thrown
	// away). Transfers longer than the kernel's limit are the bus's business.
	Tx(w, r []byte) error
	io.Closer
}

// Camera is a video device. Nothing is open and no lamp is lit between calls.
type Camera interface {
	// Probe says what the device calls itself, without taking a picture. One
	// that is away is ErrOffline.
	Probe(ctx context.Context) (name string, err error)
	// Frame takes one whole frame. A frame that came in pieces or damaged is
	// an error, as is a form that the device does not offer. One call at a
	// time.
	Frame(ctx context.Context, want FrameForm) (Frame, error)
	io.Closer
}

// FrameForm is how a frame is asked for.
type FrameForm struct {
	Pixels        string // one of the Pixels constants
	Width, Height int    // the device may choose the nearest that it has
	Skip          int    // frames thrown away first, while the exposure settles
}

// The forms of a frame.
const (
	// PixelsMJPEG: a JPEG, perhaps without its Huffman tables.
	PixelsMJPEG = "mjpeg"
	// PixelsYUYV: for two pixels each Y0 Cb Y1 Cr, lines of Stride bytes.
	PixelsYUYV = "yuyv"
)

// Frame is one picture as the device sent it.
type Frame struct {
	Pixels        string
	Width, Height int
	Stride        int  // bytes of a line of PixelsYUYV
	FullRange     bool // PixelsYUYV: Y is 0 to 255, not 16 to 235
	Data          []byte
}
