package host

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The offsets of include/uapi/linux/gpio.h, the same on 32 and 64 bit.
func TestLayout(t *testing.T) {
	var r lineRequest
	var i lineInfo
	var e lineEvent
	for name, c := range map[string]struct{ got, want uintptr }{
		"request.consumer":       {unsafe.Offsetof(r.consumer), 256},
		"request.config":         {unsafe.Offsetof(r.config), 288},
		"request.config.attrs":   {unsafe.Offsetof(r.config) + unsafe.Offsetof(r.config.attrs), 320},
		"request.num_lines":      {unsafe.Offsetof(r.numLines), 560},
		"request.fd":             {unsafe.Offsetof(r.fd), 588},
		"info.offset":            {unsafe.Offsetof(i.offset), 64},
		"info.flags":             {unsafe.Offsetof(i.flags), 72},
		"info.attrs":             {unsafe.Offsetof(i.attrs), 80},
		"event.id":               {unsafe.Offsetof(e.id), 8},
		"event.line_seqno":       {unsafe.Offsetof(e.lineNo), 20},
		"size of an attribute":   {unsafe.Sizeof(lineAttribute{}), 16},
		"size of a config attr.": {unsafe.Sizeof(lineConfigAttribute{}), 24},
	} {
		if c.got != c.want {
			t.Errorf("%s is at %d, want %d", name, c.got, c.want)
		}
	}
}

// An output's first level is in the request that makes it an output.
func TestOutputIsAskedForWithItsLevel(t *testing.T) {
	for _, high := range []bool{false, true} {
		r := request(17, flagOutput, high)
		b := unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r))
		word := func(at int) uint64 { return binary.NativeEndian.Uint64(b[at:]) }
		half := func(at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
		if half(0) != 17 || half(560) != 1 || word(288) != 1<<3 {
			t.Errorf("offset %d, lines %d, flags %#x", half(0), half(560), word(288))
		}
		if half(296) != 1 || half(320) != unix.GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES || word(336) != 1 {
			t.Errorf("attributes %d, id %d, mask %#x", half(296), half(320), word(336))
		}
		if word(328) != bit(high) {
			t.Errorf("high %v: level %d", high, word(328))
		}
		if text(r.consumer) != "roomgate" {
			t.Errorf("consumer %q", text(r.consumer))
		}
	}
	if r := request(3, flagInput|flagPullUp, false); r.config.numAttrs != 0 {
		t.Error("an input was asked for with a level")
	}
}

func TestLineByChipAndOffset(t *testing.T) {
	c := chipInfo{lines: 54}
	copy(c.name[:], "gpiochip0")
	copy(c.label[:], "pinctrl-rp1")
	for line, want := range map[string]bool{"pinctrl-rp1/17": true, "gpiochip0/17": true,
		"gpiochip1/17": false, "GPIO17": false, "pinctrl-rp1/-17": false, "pinctrl-rp1/": false} {
		if n, ok := c.offset(line); ok != want || ok && n != 17 {
			t.Errorf("%s: %d, %v", line, n, ok)
		}
	}
}
