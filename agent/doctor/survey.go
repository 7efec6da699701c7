package doctor

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"

	"roomgate/agent/config"
	"roomgate/drivers"
)

// The kinds of a need.
const (
	kindLine   = "line"
	kindPWM    = "channel"
	kindI2C    = "bus"
	kindSPI    = "port"
	kindCamera = "camera"
)

// need is something of the board that a device of the configuration opens.
type need struct {
	kind, name string
	device     string // its id
}

// surveyor is the buses of one device: they note what they are asked for and
// lead nowhere.
type surveyor struct {
	device string

	mu    sync.Mutex
	needs []need
}

var _ drivers.Buses = (*surveyor)(nil)

// survey asks the drivers of all enabled devices what they would open. Buses
// that take everything leave only one reason to fail: the options, or a file
// that they name.
func survey(ctx context.Context, c *config.Config, limit time.Duration) (all []need, wrong map[string]error) {
	wrong = map[string]error{}
	if c == nil {
		return nil, wrong
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, s := range c.Spaces {
		for _, d := range s.Devices {
			if !d.Enabled {
				continue
			}
			needs, err := ask(ctx, d)
			all = append(all, needs...)
			if err != nil {
				wrong[d.ID] = err
			}
		}
	}
	return all, wrong
}

func ask(ctx context.Context, d config.Device) ([]need, error) {
	s := &surveyor{device: d.ID}
	driver, err := d.Options.Open(ctx, s)
	if err == nil {
		_ = driver.Close() // there is nothing below that could fail
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.needs, err
}

// options are the devices that no driver can open as they are configured. Who
// may not read a file that the gateway may read has seen nothing wrong.
func options(_ context.Context, x *examination) (found []Finding) {
	for _, id := range slices.Sorted(maps.Keys(x.wrong)) {
		f := fail("options of "+id, x.wrong[id].Error(), "correct its options in "+x.ConfigFile+", or the file that they name")
		if errors.Is(x.wrong[id], fs.ErrPermission) {
			f.State, f.Fix = Warn, "run this command as root, or let "+x.user.Name+" read the file"
		}
		found = append(found, f)
	}
	return found
}

func (s *surveyor) note(kind, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.needs = append(s.needs, need{kind, name, s.device})
}

// Output notes the line.
func (s *surveyor) Output(line string, _ bool) (drivers.Output, error) {
	s.note(kindLine, line)
	return nothing{}, nil
}

// Input notes the line.
func (s *surveyor) Input(line string, _ drivers.Pull) (drivers.Input, error) {
	s.note(kindLine, line)
	return nothing{}, nil
}

// Pulses notes the line.
func (s *surveyor) Pulses(line string, _ drivers.Pull) (drivers.Input, error) {
	return s.Input(line, drivers.PullNone)
}

// PWM notes the channel.
func (s *surveyor) PWM(channel string, _ physic.Frequency) (drivers.PWM, error) {
	s.note(kindPWM, channel)
	return nothing{}, nil
}

// I2C notes the bus.
func (s *surveyor) I2C(bus string) (i2c.Bus, error) {
	s.note(kindI2C, bus)
	return wire{}, nil
}

// SPI notes the port.
func (s *surveyor) SPI(port string, _ physic.Frequency, _ spi.Mode) (drivers.SPI, error) {
	s.note(kindSPI, port)
	return nothing{}, nil
}

// Camera notes the path.
func (s *surveyor) Camera(path string) (drivers.Camera, error) {
	s.note(kindCamera, path)
	return nothing{}, nil
}

// Dial reaches nobody: what is on the network is the gateway's to ask.
func (*surveyor) Dial(context.Context, string, string) (net.Conn, error) {
	return nil, drivers.ErrOffline
}

// Page is one that nobody shows.
func (*surveyor) Page(string) *drivers.Page { return &drivers.Page{} }

// nothing is every line, channel, port and camera of a surveyor.
type nothing struct{}

func (nothing) Set(bool) error         { return nil }
func (nothing) Read() (bool, error)    { return false, nil }
func (nothing) SetDuty(float64) error  { return nil }
func (nothing) Duty() (float64, error) { return 0, nil }
func (nothing) Tx(_, _ []byte) error   { return nil }
func (nothing) Close() error           { return nil }
func (nothing) Edges(ctx context.Context, _ func(drivers.Edge)) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func (nothing) Probe(context.Context) (string, error) { return "", drivers.ErrOffline }

func (nothing) Frame(context.Context, drivers.FrameForm) (drivers.Frame, error) {
	return drivers.Frame{}, drivers.ErrOffline
}

// wire is the I2C bus of a surveyor, on which no chip answers.
type wire struct{}

func (wire) Tx(uint16, []byte, []byte) error { return drivers.ErrOffline }
func (wire) SetSpeed(physic.Frequency) error { return nil }
func (wire) String() string                  { return "survey" }
