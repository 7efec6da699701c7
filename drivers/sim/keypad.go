package sim

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The times of a Wiegand reader.
const (
	pulseWidth   = 50 * time.Microsecond
	bitTime      = 2 * time.Millisecond
	keyTime      = 200 * time.Millisecond // between two keys of a quick hand
	messagePause = 60 * time.Millisecond
)

// maxPulses bounds what is on its way.
const maxPulses = 4096

// Keypad is a keypad with a card reader on two Wiegand lines, which rest high.
type Keypad struct {
	Faults   `yaml:"-"`
	D0       string `yaml:"d0"`
	D1       string `yaml:"d1"`
	KeyBits  int    `yaml:"key_bits"`  // 4 (also if 0) or 8
	CardBits int    `yaml:"card_bits"` // 26 (also if 0), 34 or 37
	Facility uint32 `yaml:"facility"`  // of its cards

	mu     sync.Mutex
	pulses []wiegandPulse // oldest first
}

// wiegandPulse is a short low on one of the lines.
type wiegandPulse struct {
	bit  uint64
	from time.Time
}

// Subjects are its sub-devices.
func (*Keypad) Subjects() []string { return []string{"keypad"} }

// Attach wires it into the world.
func (k *Keypad) Attach(w *World) error {
	if k.KeyBits == 0 {
		k.KeyBits = 4
	}
	if k.CardBits == 0 {
		k.CardBits = 26
	}
	facility := map[int]int{26: 8, 34: 16, 37: 16}[k.CardBits]
	switch {
	case k.KeyBits != 4 && k.KeyBits != 8:
		return fmt.Errorf("key_bits %d is not known: want 4 or 8", k.KeyBits)
	case facility == 0:
		return fmt.Errorf("card_bits %d is not known: want 26, 34 or 37", k.CardBits)
	case k.Facility>>facility != 0:
		return fmt.Errorf("facility %d is out of range: it has %d bits", k.Facility, facility)
	}
	if err := w.drive(k.D0, &k.Faults, wiegandLine{k, 0}); err != nil {
		return err
	}
	return w.drive(k.D1, &k.Faults, wiegandLine{k, 1})
}

// Keys presses keys, of 0 to 9, * and #.
func (k *Keypad) Keys(keys string) error {
	if i := strings.IndexFunc(keys, func(r rune) bool { return !strings.ContainsRune("0123456789*#", r) }); i >= 0 || keys == "" {
		return fmt.Errorf("keys %q are not there: want 0 to 9, * and #", keys)
	}
	for _, key := range keys {
		code := uint64(strings.IndexRune("0123456789*#", key))
		if k.KeyBits == 8 {
			code |= (15 - code) << 4
		}
		if err := k.Send(code, k.KeyBits, keyTime); err != nil {
			return err
		}
	}
	return nil
}

// Card holds a card of the keypad's facility to the reader.
func (k *Keypad) Card(number uint32) error {
	size := map[int]int{26: 16, 34: 16, 37: 19}[k.CardBits]
	if number>>size != 0 {
		return fmt.Errorf("card %d is out of range: it has %d bits", number, size)
	}
	message := (uint64(k.Facility)<<size | uint64(number)) << 1
	// The first half, with its parity, has an even number of ones, the second
	// an odd one. In 37 bits both count the one in the middle.
	half := (k.CardBits + 1) / 2
	if bits.OnesCount64(message>>(k.CardBits-half))%2 == 1 {
		message |= 1 << (k.CardBits - 1)
	}
	if bits.OnesCount64(message&(1<<half-1))%2 == 0 {
		message |= 1
	}
	return k.Send(message, k.CardBits, messagePause)
}

// Send puts n bits on the lines, highest first, after what is on its way and
// a pause.
func (k *Keypad) Send(message uint64, n int, pause time.Duration) error {
	k.mu.Lock()
	defer k.ring()
	defer k.mu.Unlock()
	now := time.Now()
	for len(k.pulses) > 0 && now.Sub(k.pulses[0].from) > 2*maxLag {
		k.pulses = k.pulses[1:]
	}
	if len(k.pulses)+n > maxPulses {
		return fmt.Errorf("the keypad is still sending: wait for it")
	}
	start := now
	if last := len(k.pulses) - 1; last >= 0 && k.pulses[last].from.Add(pause).After(now) {
		start = k.pulses[last].from.Add(pause)
	}
	for i := range n {
		k.pulses = append(k.pulses, wiegandPulse{message >> (n - 1 - i) & 1, start.Add(time.Duration(i) * bitTime)})
	}
	return nil
}

// wiegandLine is one of the lines.
type wiegandLine struct {
	k   *Keypad
	bit uint64
}

func (l wiegandLine) at(t time.Time) bool {
	l.k.mu.Lock()
	defer l.k.mu.Unlock()
	for _, p := range l.k.pulses {
		if p.bit == l.bit && !t.Before(p.from) && t.Before(p.from.Add(pulseWidth)) {
			return false
		}
	}
	return true
}

func (l wiegandLine) next(t time.Time) (time.Time, bool) {
	l.k.mu.Lock()
	defer l.k.mu.Unlock()
	for _, p := range l.k.pulses {
		if p.bit != l.bit {
			continue
		}
		if p.from.After(t) {
			return p.from, true
		}
		if end := p.from.Add(pulseWidth); end.After(t) {
			return end, true
		}
	}
	return time.Time{}, false
}

// Verbs are what it obeys.
func (k *Keypad) Verbs(string) []Verb {
	return []Verb{
		{Name: "keys", Args: 1, Do: func(args []string) (string, error) {
			return "keys are pressed", k.Keys(args[0])
		}},
		{Name: "code", Args: 1, Do: func(args []string) (string, error) {
			return "a code is entered", k.Keys(args[0] + "#")
		}},
		{Name: "card", Args: 1, Do: func(args []string) (string, error) {
			number, err := strconv.ParseUint(args[0], 10, 32)
			if err != nil {
				return "", fmt.Errorf("card %q is no number", args[0])
			}
			return "a card was held to the reader", k.Card(uint32(number))
		}},
	}
}

// State says how it is.
func (k *Keypad) State() string {
	return fmt.Sprintf("cards of %d bits, keys of %d", k.CardBits, k.KeyBits)
}
