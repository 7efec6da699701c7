package parts

import (
	"periph.io/x/conn/v3/physic"
)

// rgb is a colour as people write it.
type rgb struct{ r, g, b byte }

// dimmed is the colour at a share of its light, 0 to 1.
func (c rgb) dimmed(share float64) rgb {
	part := func(b byte) byte { return byte(float64(b)*share + 0.5) }
	return rgb{part(c.r), part(c.g), part(c.b)}
}

// strip is a kind of LED, as the options name it.
type strip struct {
	name  string
	speed physic.Frequency
	frame func([]rgb) []byte // one transfer that shows the colours
}

// strips are the kinds of LED that the driver knows.
func strips() []strip {
	return []strip{
		{"apa102", apa102Speed, apa102Frame},
		{"ws2812", ws2812Speed, ws2812Frame},
	}
}
