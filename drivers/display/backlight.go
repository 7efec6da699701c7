package display

import (
	"fmt"
	"sync"

	"roomgate/drivers"
)

// backlight is the line to the screen's backlight.
type backlight struct {
	line     drivers.Output
	name     string
	litLevel bool

	mu  sync.Mutex
	lit bool // what the line was told
}

func (b *backlight) set(lit bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.line.Set(lit == b.litLevel); err != nil {
		return fmt.Errorf("backlight %s: %w", b.name, err)
	}
	b.lit = lit
	return nil
}

func (b *backlight) isLit() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lit
}

// close lights the screen and gives the line back.
func (b *backlight) close() error {
	err := b.set(true)
	if e := b.line.Close(); err == nil {
		err = e
	}
	return err
}
