package host

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Chip is a GPIO chip of this board, as the kernel describes it.
type Chip struct {
	Path  string // "/dev/gpiochip0"
	Label string // "pinctrl-rp1"
	Lines []Line
	Err   error // why it could not be looked at
}

// Line is a line of a chip.
type Line struct {
	Name string // as the board's device tree has it, or empty
	Used bool
	User string // who holds it, or empty
}

// Chips describes every GPIO chip. It opens the chips for reading and takes no
// line, so it may be called while drivers hold them.
func (b *Board) Chips() []Chip {
	var all []Chip
	seen := map[uint64]bool{}
	for _, name := range names(filepath.Join(b.dev, "gpiochip*")) {
		c := Chip{Path: filepath.Join(b.dev, name)}
		if fresh, err := c.read(seen); fresh || err != nil {
			c.Err = err
			all = append(all, c)
		}
	}
	return all
}

// read asks the kernel; fresh is false if another path led to this chip.
func (c *Chip) read(seen map[uint64]bool) (fresh bool, err error) {
	f, err := os.Open(c.Path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return false, err
	}
	if seen[uint64(st.Rdev)] {
		return false, nil
	}
	seen[uint64(st.Rdev)] = true
	var chip chipInfo
	if err := ioctl(f.Fd(), unix.GPIO_GET_CHIPINFO_IOCTL, &chip); err != nil {
		return false, err
	}
	c.Label = text(chip.label)
	for n := range chip.lines {
		info := lineInfo{offset: n}
		if err := ioctl(f.Fd(), unix.GPIO_V2_GET_LINEINFO_IOCTL, &info); err != nil {
			return false, err
		}
		c.Lines = append(c.Lines, Line{text(info.name), info.flags&flagUsed != 0, text(info.consumer)})
	}
	return true, nil
}
