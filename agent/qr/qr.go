// Package qr shows a text as a QR code that a phone scans from a page or from a
// terminal.
package qr

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// quiet is the width of the light border without which phones do not find a
// code, in modules (ISO/IEC 18004 section 9.1).
const quiet = 4

// Code is a QR code.
type Code struct{ code *qr.Code }

// New encodes a text of at most 2953 bytes. The error correction is the least,
// which makes the fewest and so the largest modules: a screen gets no scratches.
func New(text string) (Code, error) {
	c, err := qr.Encode(text, qr.L)
	if err != nil {
		return Code{}, fmt.Errorf("make a QR code of %d bytes: %w", len(text), err)
	}
	return Code{c}, nil
}

// side is the length of a side with the border, in modules.
func (c Code) side() int { return c.code.Size + 2*quiet }

// dark says whether a module is dark; the border is not.
func (c Code) dark(x, y int) bool { return c.code.Black(x-quiet, y-quiet) }

// SVG is the code as an SVG element with the name that a screen reader says. It
// is dark on light whatever surrounds it, and has no size of its own.
func (c Code) SVG(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%s" viewBox="0 0 %d %[2]d" shape-rendering="crispEdges">`+
		`<path fill="#fff" d="M0 0h%[2]dv%[2]dH0z"/><path d="`, name, c.side())
	for y := range c.side() {
		for x := 0; x < c.side(); x++ {
			from := x
			for c.dark(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%[3]dz", from, y, x-from)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String()
}

// The colours of a terminal, white on black whichever it usually has
// (ECMA-48 section 8.3.117; bold is what makes a Linux console's white bright).
const (
	whiteOnBlack = "\x1b[40;37;1m"
	usual        = "\x1b[0m"
)

// Terminal is the code as lines of half blocks, two modules above each other in
// a character. It needs side characters of width and half of that in lines.
func (c Code) Terminal() string {
	var b strings.Builder
	for y := 0; y < c.side(); y += 2 {
		b.WriteString(whiteOnBlack)
		for x := range c.side() {
			above, below := c.dark(x, y), c.dark(x, y+1)
			switch {
			case above && below:
				b.WriteByte(' ')
			case above:
				b.WriteRune('▄')
			case below:
				b.WriteRune('▀')
			default:
				b.WriteRune('█')
			}
		}
		b.WriteString(usual + "\n")
	}
	return b.String()
}
