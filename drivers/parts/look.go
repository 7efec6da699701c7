package parts

import (
	"encoding/hex"
	"fmt"
	"math"
	"time"
)

// The patterns of a ring.
const (
	solid   = "solid"
	blink   = "blink"
	breathe = "breathe"
	rotate  = "rotate"
)

const (
	frameTime  = 50 * time.Millisecond // 20 pictures a second
	blinkTime  = 500 * time.Millisecond
	breathTime = 4 * time.Second
	turnTime   = 2 * time.Second
)

var white = rgb{0xff, 0xff, 0xff}

// look is how a ring looks.
type look struct {
	on         bool
	color      rgb
	brightness int // %, 0 to 100
	pattern    string
}

// every is the time between two pictures, 0 if one is all.
func (l look) every() time.Duration {
	switch {
	case !l.on || l.pattern == solid:
		return 0
	case l.pattern == blink:
		return blinkTime
	}
	return frameTime
}

// picture is what each LED shows at a time since the pattern began.
func (l look) picture(leds int, t time.Duration) []rgb {
	colors := make([]rgb, leds)
	if !l.on {
		return colors
	}
	c := l.color.dimmed(float64(l.brightness) / 100)
	for i := range colors {
		colors[i] = c.dimmed(l.share(i, leds, t))
	}
	return colors
}

// share is how much of its light one LED shows.
func (l look) share(i, leds int, t time.Duration) float64 {
	switch l.pattern {
	case blink:
		return 1 - float64(t/blinkTime%2)
	case breathe:
		return (1 + math.Cos(2*math.Pi*phase(t, breathTime))) / 2
	case rotate: // a tail behind a head
		head := phase(t, turnTime) * float64(leds)
		behind := math.Mod(head-float64(i)+float64(leds), float64(leds))
		return max(0, 1-3*behind/float64(leds))
	}
	return 1
}

// phase is how far through its period a pattern is, 0 to below 1.
func phase(t, period time.Duration) float64 {
	return float64(t%period) / float64(period)
}

// parseColor reads "#rrggbb".
func parseColor(s string) (rgb, error) {
	if len(s) == 7 && s[0] == '#' {
		if b, err := hex.DecodeString(s[1:]); err == nil {
			return rgb{b[0], b[1], b[2]}, nil
		}
	}
	return rgb{}, fmt.Errorf("color %q is not known: want one like \"#ff8800\"", s)
}

// String is the color as parseColor reads it.
func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }
