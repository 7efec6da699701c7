package disk

import (
	"context"
	"io"
)

// Tally tells somebody how far a copy is.
type Tally struct {
	Done, Total int64                   // bytes
	Progress    func(done, total int64) // hears of it; nil: nobody does
}

func (t *Tally) add(n int) {
	if t.Done += int64(n); t.Progress != nil {
		t.Progress(min(t.Done, t.Total), t.Total)
	}
}

// Counted counts what is read, until its context ends.
type Counted struct {
	Ctx context.Context
	io.ReaderAt
	Tally *Tally
}

// ReadAt reads a piece.
func (c Counted) ReadAt(p []byte, at int64) (int, error) {
	if err := c.Ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.ReaderAt.ReadAt(p, at)
	c.Tally.add(n)
	return n, err
}

// Stoppable lets the end of a context end a long copy.
type Stoppable struct {
	Ctx    context.Context
	Tally  *Tally
	Writer io.Writer
}

// Write writes a piece.
func (s Stoppable) Write(p []byte) (int, error) {
	if err := s.Ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.Writer.Write(p)
	s.Tally.add(n)
	return n, err
}
