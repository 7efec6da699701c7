package camera

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync/atomic"
	"time"

	"roomgate/drivers"
)

var errOff = errors.New("camera is switched off: switch it on to take a picture")

// Source is where a camera's pictures come from.
type Source interface {
	// Probe asks whether the camera is there, without taking a picture, and
	// says how it was seen.
	Probe(ctx context.Context) (how string, err error)
	// Picture takes one whole JPEG.
	Picture(ctx context.Context) (JPEG, error)
	// Close gives back what the source holds. It is called once.
	Close() error
}

// JPEG is a whole picture, its size in pixels.
type JPEG struct {
	Width, Height int
	Data          []byte
}

// Camera is one opened camera: a source of pictures behind a privacy switch.
type Camera struct {
	kind    drivers.Kind
	source  Source
	timeout time.Duration
	on      bool // the privacy switch
	closed  atomic.Bool
}

var _ drivers.Driver = (*Camera)(nil)

// New returns a camera of a kind with its privacy switch. A call to the source
// takes no longer than timeout.
func New(kind drivers.Kind, s Source, timeout time.Duration, on bool) *Camera {
	return &Camera{kind: kind, source: s, timeout: timeout, on: on}
}

// Describe says what the camera takes.
func (c *Camera) Describe() drivers.Description {
	return drivers.Description{
		Type:    drivers.TypeCamera,
		Driver:  c.kind.Name,
		Summary: c.kind.Summary,
		Values:  []string{drivers.On, drivers.Off},
		Actions: []drivers.Action{
			{Name: drivers.ActOn, Summary: "allow pictures to be taken"},
			{Name: drivers.ActOff, Summary: "for privacy, refuse every picture"},
			{Name: drivers.ActSnapshot, Summary: "take a picture"},
		},
	}
}

// Poll asks whether the camera is there.
func (c *Camera) Poll(ctx context.Context) ([]drivers.Status, error) {
	s, err := c.observe(ctx)
	if err != nil {
		return nil, err
	}
	return []drivers.Status{s}, nil
}

// Do carries an order out. Switching off works without the camera; switching
// on asks for it first.
func (c *Camera) Do(ctx context.Context, o drivers.Command) (drivers.Status, error) {
	if err := c.ready(ctx); err != nil {
		return drivers.Status{}, err
	}
	if _, _, ok := c.Describe().Action(o.Sub, o.Action); !ok {
		return drivers.Status{}, drivers.ErrUnsupported
	}
	switch o.Action {
	case drivers.ActOff:
		c.on = false
		return drivers.Status{Value: drivers.Off, ObservedAt: time.Now(), Source: drivers.SourceCommand}, nil
	case drivers.ActOn:
		s, err := c.observe(ctx)
		if err != nil {
			return drivers.Status{}, err
		}
		c.on, s.Value = true, drivers.On
		return s, nil
	}
	return c.snapshot(ctx)
}

func (c *Camera) ready(ctx context.Context) error {
	if c.closed.Load() {
		return drivers.ErrClosed
	}
	return context.Cause(ctx)
}

func (c *Camera) observe(ctx context.Context) (drivers.Status, error) {
	if err := c.ready(ctx); err != nil {
		return drivers.Status{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	source, err := c.source.Probe(ctx)
	if err != nil {
		return drivers.Status{}, err
	}
	return drivers.Status{Value: drivers.OnOff(c.on), ObservedAt: time.Now(), Source: source}, nil
}

func (c *Camera) snapshot(ctx context.Context) (drivers.Status, error) {
	if !c.on {
		return drivers.Status{}, errOff
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	p, err := c.source.Picture(ctx)
	if err != nil {
		return drivers.Status{}, err
	}
	sum := sha256.Sum256(p.Data)
	return drivers.Status{
		Value:      drivers.On,
		ObservedAt: time.Now(),
		Source:     "picture",
		Picture:    &drivers.Picture{ContentType: "image/jpeg", Data: p.Data},
		Details: map[string]any{
			"width": p.Width, "height": p.Height, "bytes": len(p.Data), "sha256": hex.EncodeToString(sum[:]),
		},
	}, nil
}

// Close gives the camera back, which needs nothing to be safe.
func (c *Camera) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	return c.source.Close()
}
