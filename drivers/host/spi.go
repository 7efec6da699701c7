package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi"
	"periph.io/x/host/v3/sysfs"

	"roomgate/drivers"
)

var spiName = regexp.MustCompile(`^spidev(\d{1,4})\.(\d{1,2})$`)

// exists asks before the library does, whose errors hide their cause.
func (b *Board) exists(name string) error {
	f, err := os.OpenFile(filepath.Join(b.dev, name), os.O_RDWR, 0)
	if err != nil {
		return explain("bus "+name, err)
	}
	return f.Close()
}

// port is an SPI port with one device on it.
type port struct {
	name    string
	lane    *lane
	conn    spi.Conn
	closer  spi.PortCloser
	most    int // bytes that the kernel takes at once
	release func()
	once    sync.Once
}

// SPI takes a port at the device's speed and mode, with 8 bits to the word.
func (b *Board) SPI(name string, frequency physic.Frequency, mode spi.Mode) (drivers.SPI, error) {
	m := spiName.FindStringSubmatch(name)
	if m == nil {
		return nil, fmt.Errorf("SPI port %q: %w, want a name of /dev as spidev0.0", name, drivers.ErrNoLine)
	}
	if err := b.exists(name); err != nil {
		return nil, err
	}
	release, err := b.claim("SPI port "+name, name)
	if err != nil {
		return nil, err
	}
	p := &port{name: name, lane: newLane("SPI port " + name), most: b.spiLimit(), release: release}
	number, _ := strconv.Atoi(m[1])
	chipSelect, _ := strconv.Atoi(m[2])
	if err := p.open(number, chipSelect, frequency, mode); err != nil {
		release()
		return nil, err
	}
	return p, nil
}

func (p *port) open(number, chipSelect int, frequency physic.Frequency, mode spi.Mode) error {
	closer, err := sysfs.NewSPI(number, chipSelect)
	if err != nil {
		return fmt.Errorf("SPI port %s: %w", p.name, err)
	}
	conn, err := closer.Connect(frequency, mode, 8)
	if err != nil {
		return errors.Join(fmt.Errorf("SPI port %s: %w", p.name, err), closer.Close())
	}
	p.closer, p.conn = closer, conn
	return nil
}

// spiLimit is the kernel's longest transfer; 4096 is what it starts with.
func (b *Board) spiLimit() int {
	raw, _ := os.ReadFile(filepath.Join(b.sys, "module", "spidev", "parameters", "bufsiz"))
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || n <= 0 {
		return 4096
	}
	return n
}

// Tx writes w and reads into r, in as many transfers as the kernel needs. The
// chip select goes up in between.
func (p *port) Tx(w, r []byte) error {
	if r != nil && len(r) != len(w) {
		return fmt.Errorf("SPI port %s: %d bytes to write and %d to read", p.name, len(w), len(r))
	}
	out := bytes.Clone(w)
	var in []byte
	if r != nil {
		in = make([]byte, len(r))
	}
	if err := p.lane.run(func() error { return p.transfer(out, in) }); err != nil {
		return fmt.Errorf("SPI port %s: %w", p.name, err)
	}
	copy(r, in)
	return nil
}

func (p *port) transfer(w, r []byte) error {
	// The library keeps only the address of what it hands to the kernel.
	defer runtime.KeepAlive(w)
	defer runtime.KeepAlive(r)
	for at := 0; at < len(w); at += p.most {
		end := min(at+p.most, len(w))
		var into []byte
		if r != nil {
			into = r[at:end]
		}
		if err := p.conn.Tx(w[at:end], into); err != nil {
			return err
		}
	}
	return nil
}

// Close gives the port back.
func (p *port) Close() error {
	var err error
	p.once.Do(func() {
		err = p.closer.Close()
		p.release()
	})
	return err
}
