package parts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/spi"

	"roomgate/drivers"
)

// Options are the lines and buses of one hub, as the configuration spells
// them.
type Options struct {
	Bus             string        `yaml:"bus"`
	Chip            string        `yaml:"chip"`
	Address         uint16        `yaml:"address"`
	PIR             string        `yaml:"pir"`
	Hold            time.Duration `yaml:"hold"`
	Buzzer          string        `yaml:"buzzer"`
	BuzzerActiveLow bool          `yaml:"buzzer_active_low"`
	Ring            string        `yaml:"ring"`
	Strip           string        `yaml:"strip"`
	LEDs            int           `yaml:"leds"`
}

// Kind is the driver as the configuration names it.
func Kind() drivers.Kind {
	return drivers.Kind{
		Name:    "o3-parts",
		Type:    drivers.TypeO3,
		Summary: "a sensor hub made of a temperature chip, a pir, a buzzer and a ring of leds",
		Options: func() drivers.Options {
			return &Options{Chip: "tmp102", Hold: time.Minute, Strip: "apa102", LEDs: 12}
		},
	}
}

// Check refuses values out of range with a *drivers.FieldError.
func (o *Options) Check() error {
	if err := o.checkThermometer(); err != nil {
		return err
	}
	switch {
	case o.PIR == "":
		return refuse("pir", "is missing: name the line of the infrared sensor")
	case o.Hold < time.Second || o.Hold > time.Hour:
		return refuse("hold", "is out of range: want 1s to 1h")
	case o.Buzzer == "":
		return refuse("buzzer", "is missing: name the line of the buzzer")
	case o.Ring == "":
		return refuse("ring", "is missing: name the spi port of the ring")
	case o.strip().name == "":
		return drivers.Unknown("strip", o.Strip, "apa102 or ws2812")
	case o.LEDs < 1 || o.LEDs > 256:
		return refuse("leds", "is out of range: want 1 to 256")
	}
	return nil
}

func (o *Options) checkThermometer() error {
	m := o.model()
	switch {
	case o.Bus == "":
		return refuse("bus", "is missing: name the i2c bus of the thermometer")
	case m.name == "":
		return drivers.Unknown("chip", o.Chip, "tmp102, sht31 or mcp9808")
	case o.Address != 0 && (o.Address < m.first || o.Address > m.last):
		return refuse("address", fmt.Sprintf("is out of range: a %s has %#x to %#x", m.name, m.first, m.last))
	}
	return nil
}

func refuse(field, problem string) error {
	return &drivers.FieldError{Field: field, Problem: problem}
}

// model is the chip of the options, empty if it is not known.
func (o *Options) model() model {
	all := models()
	if i := slices.IndexFunc(all, func(m model) bool { return m.name == o.Chip }); i >= 0 {
		return all[i]
	}
	return model{}
}

// strip is the kind of LED of the options, empty if it is not known.
func (o *Options) strip() strip {
	all := strips()
	if i := slices.IndexFunc(all, func(s strip) bool { return s.name == o.Strip }); i >= 0 {
		return all[i]
	}
	return strip{}
}

// Open takes the lines and returns the hub, silent and dark. A part that does
// not answer yet is no error: its sub-device says so when it is polled.
func (o *Options) Open(ctx context.Context, b drivers.Buses) (drivers.Driver, error) {
	if err := errors.Join(context.Cause(ctx), o.Check()); err != nil {
		return nil, err
	}
	h := &hub{}
	for _, open := range []func(drivers.Buses) (part, error){
		o.openThermometer, o.openPIR, o.openBuzzer, o.openRing,
	} {
		p, err := open(b)
		if err != nil {
			_ = h.Close() // the first error is the one to tell
			return nil, err
		}
		h.parts = append(h.parts, newSeat(p))
	}
	return h, nil
}

func (o *Options) openThermometer(b drivers.Buses) (part, error) {
	bus, err := b.I2C(o.Bus)
	if err != nil {
		return nil, fmt.Errorf("bus %s: %w", o.Bus, err)
	}
	m, address := o.model(), o.Address
	if address == 0 {
		address = m.first
	}
	dev := i2c.Dev{Bus: bus, Addr: address}
	return &thermometer{chip: m.open(dev), name: fmt.Sprintf("%s %#x", m.name, address)}, nil
}

func (o *Options) openPIR(b drivers.Buses) (part, error) {
	line, err := b.Input(o.PIR, drivers.PullDown)
	if err != nil {
		return nil, fmt.Errorf("pir %s: %w", o.PIR, err)
	}
	return &pir{line: line, name: o.PIR, hold: o.Hold}, nil
}

func (o *Options) openBuzzer(b drivers.Buses) (part, error) {
	line, err := b.Output(o.Buzzer, o.BuzzerActiveLow)
	if err != nil {
		return nil, fmt.Errorf("buzzer %s: %w", o.Buzzer, err)
	}
	return &buzzer{line: line, name: o.Buzzer, silent: o.BuzzerActiveLow}, nil
}

func (o *Options) openRing(b drivers.Buses) (part, error) {
	kind := o.strip()
	port, err := b.SPI(o.Ring, kind.speed, spi.Mode0)
	if err != nil {
		return nil, fmt.Errorf("ring %s: %w", o.Ring, err)
	}
	r := &ring{port: port, name: o.Ring, kind: kind, leds: o.LEDs,
		look: look{color: white, brightness: 100, pattern: solid}}
	_ = r.paint(0) // dark; a ring that is not there yet says so when it is polled
	return r, nil
}
