package setup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

// shelf is buses on which chips answer by address; one is stuck.
type shelf struct {
	drivers.Buses
	chips map[string][]uint16
}

func (s shelf) I2C(name string) (i2c.Bus, error) { return rail{name, s.chips[name]}, nil }

func (s shelf) Camera(string) (drivers.Camera, error) { return nil, drivers.ErrInUse }

type rail struct {
	name  string
	chips []uint16
}

func (r rail) Tx(address uint16, w, _ []byte) error {
	if len(w) > 0 {
		return errors.New("a search writes to a chip")
	}
	if r.name == "i2c-20" {
		return errors.New("bus i2c-20: sda is stuck low")
	}
	for _, c := range r.chips {
		if c == address {
			return nil
		}
	}
	return drivers.ErrOffline
}

func (rail) SetSpeed(physic.Frequency) error { return nil }
func (r rail) String() string                { return r.name }

func TestLook(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"sys/firmware/devicetree/base/model": "Raspberry Pi 5 Model B Rev 1.0\x00",
		"sys/class/pwm/pwmchip0/npwm":        "2\n",
		"dev/i2c-1":                          "",
		"dev/i2c-20":                         "",
		"dev/spidev10.0":                     "",
		"dev/spidev0.0":                      "",
		"dev/v4l/by-id/usb-Logitech_C270-video-index0":       "",
		"dev/v4l/by-id/usb-Logitech_C270-video-index1":       "",
		"sys/class/i2c-dev/i2c-1/name":                       "",
		"proc/device-tree/model":                             "",
		"sys/class/video4linux/video0/device/interface/none": "",
	} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	lines := []Line{{"GPIO17", "rp1", ""}, {"GPIO2", "rp1", ""}, {"", "rp1", ""}, {"GPIO27", "rp1", "button"}, {"GPIO2", "rp1", ""}}
	got := Look(t.Context(), Place{Root: root, Lines: func() ([]Line, error) { return lines, errors.New("gpiochip9: permission denied") },
		Buses: shelf{chips: map[string][]uint16{"i2c-1": {0x48, 0x50}}}, Models: []Model{{"tmp102", 0x48, 0x4b}, {"sht31", 0x44, 0x45}}})
	want := Board{Model: "Raspberry Pi 5 Model B Rev 1.0", Lines: []string{"GPIO2", "GPIO17"}, Taken: []string{"GPIO27 (button)"},
		Channels: []string{"pwmchip0/0", "pwmchip0/1"}, Buses: []string{"i2c-1", "i2c-20"}, Ports: []string{"spidev0.0", "spidev10.0"},
		Chips:   []Answer{{"i2c-1", 0x48, "tmp102"}},
		Cameras: []Video{{Path: "/dev/v4l/by-id/usb-Logitech_C270-video-index0"}},
		Wrong:   []string{"gpiochip9: permission denied", "bus i2c-20: sda is stuck low"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
