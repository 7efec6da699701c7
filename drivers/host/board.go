package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"roomgate/drivers"
)

// Board is this machine's buses.
type Board struct {
	dev, sys string // "/dev" and "/sys"

	mu    sync.Mutex
	held  map[string]string // lines, channels and ports that a driver holds, each with its name there
	buses map[string]*bus
	pages map[string]*drivers.Page

	inside inside
}

var _ drivers.Buses = (*Board)(nil)

// New returns the board. It touches no hardware.
func New() *Board { return at("/dev", "/sys") }

func at(dev, sys string) *Board {
	return &Board{dev: dev, sys: sys, held: map[string]string{},
		buses: map[string]*bus{}, pages: map[string]*drivers.Page{}}
}

// Close closes the shared buses. Lines, channels and ports belong to their
// drivers.
func (b *Board) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all error
	for name, bus := range b.buses {
		all = errors.Join(all, bus.file.Close())
		delete(b.buses, name)
	}
	return all
}

// Dial reaches a device on the network, or what listens inside; ctx bounds it.
func (b *Board) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if c, ours, err := b.inside.dial(ctx, address); ours {
		return c, err
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// Page returns the page of a room display, the same for the same name.
func (b *Board) Page(name string) *drivers.Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pages[name] == nil {
		b.pages[name] = &drivers.Page{}
	}
	return b.pages[name]
}

// Held lists the lines, channels and ports that drivers hold, by the names that
// they asked for, sorted.
func (b *Board) Held() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Values(b.held))
}

// claim marks what, which a driver asked for by name, as held until release is
// first called. It is exclusive within this process; the kernel's own answer
// settles it between processes.
func (b *Board) claim(what, name string) (release func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if other, ok := b.held[what]; ok {
		return nil, fmt.Errorf("%s: %w by another device of this configuration, as %s", name, drivers.ErrInUse, other)
	}
	b.held[what] = name
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.held, what)
	}), nil
}

// explain puts a cause that drivers know before the kernel's.
func explain(what string, err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV):
		return fmt.Errorf("%s: %w: %w", what, drivers.ErrNoLine, err)
	case errors.Is(err, syscall.EBUSY):
		return fmt.Errorf("%s: %w: %w", what, drivers.ErrInUse, err)
	case errors.Is(err, os.ErrClosed):
		return fmt.Errorf("%s: %w", what, drivers.ErrClosed)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s: %w, run as a user of the group that owns it", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// names returns the last elements of the paths that match.
func names(pattern string) []string {
	paths, _ := filepath.Glob(pattern) // the pattern is ours and valid
	for i, p := range paths {
		paths[i] = filepath.Base(p)
	}
	return paths
}
