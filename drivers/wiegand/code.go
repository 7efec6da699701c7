package wiegand

import (
	"strconv"
	"time"

	"roomgate/drivers"
)

const (
	// codePause ends a code that # did not.
	codePause = 5 * time.Second
	// maxDigits is more than any code has.
	maxDigits = 16
)

// code collects the keys of one code.
type code struct {
	report func(drivers.Event)
	digits []byte
	bits   int // of a key's message
}

func (c *code) begun() bool { return len(c.digits) > 0 }

// take reads a message. What cannot be read is dropped.
func (c *code) take(m message) {
	r, err := Decode(m.bits, m.n)
	switch {
	case err != nil:
	case r.Key == 0:
		c.card(r, m.at)
	case r.Key == '*':
		c.forget()
	case r.Key == '#':
		c.end(m.at)
	case len(c.digits) <= maxDigits: // one more than a code may have, by which too many are known
		c.digits, c.bits = append(c.digits, r.Key), r.Bits
	}
}

// end tells the code, if there is one.
func (c *code) end(at time.Time) {
	if n := len(c.digits); n > 0 && n <= maxDigits {
		c.report(drivers.Event{
			Type:    drivers.EventCodeEntered,
			Time:    at,
			Details: map[string]any{"bits": c.bits, "digits": n},
			Code:    drivers.Secret(c.digits),
		})
	}
	c.forget()
}

// forget also wipes the digits from memory.
func (c *code) forget() {
	clear(c.digits)
	c.digits = c.digits[:0]
}

func (c *code) card(r Reading, at time.Time) {
	facility, card := strconv.Itoa(int(r.Facility)), strconv.Itoa(int(r.Card))
	c.report(drivers.Event{
		Type:    drivers.EventCodeEntered,
		Time:    at,
		Details: map[string]any{"bits": r.Bits, "facility": int(r.Facility), "card": int(r.Card)},
		Code:    drivers.Secret(facility + ":" + card),
	})
}
