package drivertest_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"periph.io/x/conn/v3/physic"

	"roomgate/drivers"
)

// candleOptions are those of the driver on which the suite itself is tried: a
// light on one channel. Flaw names what is wrong with it.
type candleOptions struct {
	Channel   string  `yaml:"channel"`
	Frequency float64 `yaml:"frequency"`
	Flaw      string  `yaml:"-"`
}

func candleKind() drivers.Kind {
	return drivers.Kind{
		Name: "candle", Type: drivers.TypeLight, Summary: "a light to try the suite on",
		Options: func() drivers.Options { return &candleOptions{Frequency: 1000} },
	}
}

func (o *candleOptions) Check() error {
	if !(o.Frequency >= 1 && o.Frequency <= 50_000) && o.Flaw != "frequency goes unchecked" {
		return &drivers.FieldError{Field: "frequency", Problem: "is out of range"}
	}
	return nil
}

func (o *candleOptions) Open(_ context.Context, b drivers.Buses) (drivers.Driver, error) {
	p, err := b.PWM(o.Channel, physic.Frequency(o.Frequency)*physic.Hertz)
	if err != nil {
		return nil, err
	}
	c := &candle{flaw: o.Flaw, pwm: p, closed: make(chan struct{})}
	if c.is("flashes at start") {
		_ = p.SetDuty(1)
		_ = p.SetDuty(0)
	}
	return c, nil
}

type candle struct {
	flaw   string
	pwm    drivers.PWM
	once   sync.Once
	closed chan struct{}
	asked  int
	last   drivers.Status
	seen   drivers.Status
}

func (c *candle) is(flaw string) bool { return c.flaw == flaw }

func (c *candle) Describe() drivers.Description {
	c.asked++
	actions := []drivers.Action{
		{Name: drivers.ActOn, Summary: "light it"},
		{Name: drivers.ActOff, Summary: "put it out"},
		{Name: drivers.ActIntensity, Summary: "dim it", Params: []drivers.Param{
			{Name: drivers.ValueName, Kind: drivers.KindNumber, Unit: "%", Max: 100},
		}},
	}
	if c.is("lacks an action") {
		actions = actions[:2]
	}
	d := drivers.Description{
		Type: drivers.TypeLight, Driver: "candle", Summary: "a candle",
		Values: []string{drivers.On, drivers.Off}, Actions: actions,
	}
	if c.is("description changes") && c.asked > 1 {
		d.Summary = "another candle"
	}
	return d
}

func (c *candle) Poll(ctx context.Context) ([]drivers.Status, error) {
	s, err := c.observe(ctx)
	if err != nil {
		return nil, err
	}
	return []drivers.Status{s}, nil
}

func (c *candle) observe(ctx context.Context) (drivers.Status, error) {
	duty, err := c.pwm.Duty()
	switch {
	case err != nil && c.is("does not say what fails"):
		return drivers.Status{}, errors.New("it does not work")
	case err != nil && c.is("remembers"):
		return c.seen, nil
	case err != nil && c.is("hides errors"):
		return drivers.Status{Value: drivers.Off, ObservedAt: time.Now(), Source: "channel"}, nil
	case err != nil && c.is("stays offline") && c.last.Err == nil:
		c.last.Err = err
	case err != nil && !c.is("stays offline"):
		return drivers.Status{}, err
	}
	if c.last.Err != nil || ctx.Err() != nil {
		return drivers.Status{}, errors.Join(c.last.Err, ctx.Err())
	}
	s := drivers.Status{Value: drivers.OnOff(duty > 0), ObservedAt: time.Now(), Source: "channel"}
	switch {
	case c.is("says lit"):
		s.Value = "lit"
	case c.is("does not say when"):
		s.ObservedAt = time.Time{}
	}
	c.seen = s
	return s, nil
}

func (c *candle) Do(ctx context.Context, cmd drivers.Command) (drivers.Status, error) {
	if err := ctx.Err(); err != nil && !c.is("obeys late commands") {
		return drivers.Status{}, err
	}
	a, _, ok := c.Describe().Action(cmd.Sub, cmd.Action)
	if !ok && !c.is("takes any action") {
		return drivers.Status{}, drivers.ErrUnsupported
	}
	percent := cmd.Args.Number(drivers.ValueName)
	if a.Name != drivers.ActIntensity {
		percent = 100
	}
	if a.Name == drivers.ActOff && !c.is("does not go out") {
		percent = 0
	}
	if err := c.pwm.SetDuty(math.Min(percent/100, 1)); err != nil && !c.is("hides errors") {
		return drivers.Status{}, err
	}
	s, err := c.observe(ctx)
	if c.is("told late") {
		s.ObservedAt = s.ObservedAt.Add(-time.Second)
	}
	return s, err
}

func (c *candle) Watch(ctx context.Context, report func(drivers.Event)) error {
	select {
	case <-ctx.Done():
	case <-c.closed:
	}
	if c.is("watches for ever") {
		<-c.closed
	}
	return ctx.Err()
}

func (c *candle) Close() error {
	err := drivers.ErrClosed
	c.once.Do(func() {
		close(c.closed)
		if !c.is("keeps burning") {
			_ = c.pwm.SetDuty(0)
		}
		err = nil
		if !c.is("keeps its channel") {
			err = c.pwm.Close()
		}
		if c.is("leaves a goroutine") {
			go func() { <-make(chan int) }()
		}
	})
	if c.is("closes once") {
		return err
	}
	return nil
}
