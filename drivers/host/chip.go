package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"roomgate/drivers"
)

// place is a line on a chip.
type place struct {
	chip   string // "/dev/gpiochip0"
	offset uint32
	user   string // who holds it, or empty
}

// find looks for a line by name, or by chip and offset, on every chip. A name
// that two chips have is refused rather than guessed.
func (b *Board) find(line string) (place, error) {
	var found []place
	var failed error
	seen := map[uint64]bool{}
	for _, name := range names(filepath.Join(b.dev, "gpiochip*")) {
		path := filepath.Join(b.dev, name)
		places, err := look(path, line, seen)
		if err != nil {
			failed = explain("line "+line+" on "+path, err)
		}
		found = append(found, places...)
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return place{}, fmt.Errorf("line %s: %w: both %s and %s have one, write the chip's label before it as in pinctrl-rp1/17",
			line, drivers.ErrNoLine, found[0].chip, found[1].chip)
	case failed != nil:
		return place{}, failed
	}
	return place{}, fmt.Errorf("line %s: %w: roomgate setup shows the names that it has", line, drivers.ErrNoLine)
}

// look searches one chip. Two paths may lead to one chip; the second is
// passed over.
func look(path, line string, seen map[uint64]bool) ([]place, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	if seen[uint64(st.Rdev)] {
		return nil, nil
	}
	seen[uint64(st.Rdev)] = true
	var chip chipInfo
	if err := ioctl(f.Fd(), unix.GPIO_GET_CHIPINFO_IOCTL, &chip); err != nil {
		return nil, err
	}
	return chip.search(f, line)
}

func (c *chipInfo) search(f *os.File, line string) ([]place, error) {
	offset, byOffset := c.offset(line)
	var found []place
	for n := range c.lines {
		info := lineInfo{offset: n}
		if err := ioctl(f.Fd(), unix.GPIO_V2_GET_LINEINFO_IOCTL, &info); err != nil {
			return found, err
		}
		if byOffset && n == offset || !byOffset && text(info.name) == line {
			p := place{chip: f.Name(), offset: n}
			if info.flags&flagUsed != 0 {
				p.user = text(info.consumer)
			}
			found = append(found, p)
		}
	}
	return found, nil
}

// offset reads "label/17" if the label or the name is this chip's.
func (c *chipInfo) offset(line string) (uint32, bool) {
	chip, number, ok := strings.Cut(line, "/")
	n, err := strconv.ParseUint(number, 10, 32)
	return uint32(n), ok && err == nil && (chip == text(c.label) || chip == text(c.name))
}

// take asks the kernel for a line. The file is the line, no longer the chip.
func (p place) take(line string, flags uint64, high bool) (*os.File, error) {
	f, err := os.OpenFile(p.chip, os.O_RDWR, 0)
	if err != nil {
		return nil, explain("line "+line, err)
	}
	defer f.Close()
	r := request(p.offset, flags, high)
	if err := ioctl(f.Fd(), unix.GPIO_V2_GET_LINE_IOCTL, &r); err != nil {
		return nil, explain("line "+line+p.heldBy(), err)
	}
	// Without blocking, the runtime waits for edges and a deadline ends the wait.
	if err := unix.SetNonblock(int(r.fd), true); err != nil {
		return nil, explain("line "+line, err)
	}
	return os.NewFile(uintptr(r.fd), line), nil
}

func (p place) heldBy() string {
	if p.user == "" {
		return ""
	}
	return fmt.Sprintf(" (held by %q)", p.user)
}
