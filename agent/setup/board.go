package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"roomgate/drivers"
)

// Line is a GPIO line as the kernel names it; Used is the program that uses it, empty: none.
type Line struct{ Name, Chip, Used string }

// Model is an I2C chip that a driver knows, and where it answers.
type Model struct {
	Name        string
	First, Last uint16
}

// Answer is an address of an I2C bus at which something answered. Model is
// what usually sits there.
type Answer struct {
	Bus     string `json:"bus"`
	Address uint16 `json:"address"`
	Model   string `json:"model"`
}

// String is the answer for people.
func (a Answer) String() string {
	return fmt.Sprintf("%s %#x (as a %s)", a.Bus, a.Address, a.Model)
}

// Video is a camera on USB: the path that stays, and what it calls itself.
type Video struct {
	Path string `json:"path"`
	Name string `json:"name,omitempty"`
}

// Board is what was found on a machine. The words are those that the
// configuration takes.
type Board struct {
	Model    string   `json:"model,omitempty"` // empty: this is not a board
	Lines    []string `json:"lines"`           // free ones
	Taken    []string `json:"taken"`           // lines in use, and the program that uses each
	Ours     []string `json:"-"`               // lines that a gateway holds which is set up again
	Channels []string `json:"channels"`
	Buses    []string `json:"buses"`
	Chips    []Answer `json:"chips"`
	Ports    []string `json:"ports"`
	Cameras  []Video  `json:"cameras"`
	// Wrong is what could not be looked at, and why.
	Wrong []string `json:"wrong,omitempty"`
}

// Clone is a copy from which what is used can be taken.
func (b Board) Clone() Board {
	b.Lines, b.Taken, b.Ours = slices.Clone(b.Lines), slices.Clone(b.Taken), slices.Clone(b.Ours)
	b.Channels, b.Ports = slices.Clone(b.Channels), slices.Clone(b.Ports)
	b.Chips, b.Cameras = slices.Clone(b.Chips), slices.Clone(b.Cameras)
	return b
}

// Place is where the board is looked at.
type Place struct {
	Root   string // of /dev and /sys
	Lines  func() ([]Line, error)
	Buses  drivers.Buses
	Models []Model
}

// lookTime bounds what a camera may take to say its name.
const lookTime = 3 * time.Second

// Look finds what the board has. No line is taken and nothing is switched: of
// I2C chips one byte is read, and of cameras the name.
func Look(ctx context.Context, p Place) Board {
	b := Board{Model: p.read("sys/firmware/devicetree/base/model")}
	b.lines(p)
	for _, chip := range p.below("sys/class/pwm", "pwmchip*") {
		n, _ := strconv.Atoi(p.read("sys/class/pwm/" + chip + "/npwm"))
		for i := range n {
			b.Channels = append(b.Channels, fmt.Sprintf("%s/%d", chip, i))
		}
	}
	b.Ports = p.below("dev", "spidev*")
	b.Buses = p.below("dev", "i2c-*")
	for _, bus := range b.Buses {
		b.ask(ctx, p, bus)
	}
	for _, name := range p.below("dev/v4l/by-id", "*-video-index0") {
		b.Cameras = append(b.Cameras, p.video(ctx, "/dev/v4l/by-id/"+name))
	}
	return b
}

func (b *Board) lines(p Place) {
	if p.Lines == nil {
		return
	}
	all, err := p.Lines()
	if err != nil {
		b.Wrong = append(b.Wrong, err.Error())
	}
	for _, l := range all {
		switch {
		case l.Name == "" || l.Name == "-":
		case l.Used != "":
			b.Taken = append(b.Taken, l.Name+" ("+l.Used+")")
		case !slices.Contains(b.Lines, l.Name):
			b.Lines = append(b.Lines, l.Name)
		}
	}
	slices.SortStableFunc(b.Lines, natural)
}

// ask reads a byte at each address that a known chip may have.
func (b *Board) ask(ctx context.Context, p Place, name string) {
	if p.Buses == nil {
		return
	}
	bus, err := p.Buses.I2C(name)
	if err != nil {
		b.Wrong = append(b.Wrong, err.Error())
		return
	}
	for _, m := range p.Models {
		for address := m.First; address <= m.Last; address++ {
			if ctx.Err() != nil {
				return
			}
			err := bus.Tx(address, nil, make([]byte, 1))
			if err == nil {
				b.Chips = append(b.Chips, Answer{name, address, m.Name})
			} else if !errors.Is(err, drivers.ErrOffline) { // else nobody is there
				b.Wrong = append(b.Wrong, err.Error())
				return
			}
		}
	}
}

func (p Place) video(ctx context.Context, path string) Video {
	v := Video{Path: path}
	if p.Buses == nil {
		return v
	}
	c, err := p.Buses.Camera(path)
	if err != nil {
		return v
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	v.Name, _ = c.Probe(ctx) // one that is busy has a path all the same
	return v
}

// read returns a small file without what surrounds its text.
func (p Place) read(name string) string {
	raw, err := os.ReadFile(filepath.Join(p.Root, name))
	if err != nil {
		return ""
	}
	return strings.Trim(string(raw), "\x00 \n\t")
}

// below lists the names in a folder that match, as people count.
func (p Place) below(folder, pattern string) []string {
	paths, _ := filepath.Glob(filepath.Join(p.Root, folder, pattern)) // the pattern is ours and valid
	for i := range paths {
		paths[i] = filepath.Base(paths[i])
	}
	slices.SortFunc(paths, natural)
	return paths
}

// natural sorts GPIO2 before GPIO10.
func natural(a, b string) int {
	x, y := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789")
	m, _ := strconv.Atoi(a[len(x):])
	n, _ := strconv.Atoi(b[len(y):])
	return cmp.Or(strings.Compare(x, y), cmp.Compare(m, n))
}
