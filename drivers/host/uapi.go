package host

import (
	"bytes"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel's GPIO interface, version 2: include/uapi/linux/gpio.h, same
// names. Every struct is laid out alike on 32 and 64 bit, because the kernel
// pads them by hand.

const (
	flagUsed        = 1 << 0
	flagInput       = 1 << 2
	flagOutput      = 1 << 3
	flagRising      = 1 << 4
	flagFalling     = 1 << 5
	flagPullUp      = 1 << 8
	flagPullDown    = 1 << 9
	flagBiasNothing = 1 << 10
)

// Consumer is what the kernel calls this program where it holds a line.
const Consumer = "roomgate"

type chipInfo struct {
	name, label [32]byte
	lines       uint32
}

type lineAttribute struct {
	id, _ uint32
	value uint64 // flags, values or the debounce period, by id
}

type lineConfigAttribute struct {
	attr lineAttribute
	mask uint64
}

type lineConfig struct {
	flags    uint64
	numAttrs uint32
	_        [5]uint32
	attrs    [10]lineConfigAttribute
}

type lineRequest struct {
	offsets         [64]uint32
	consumer        [32]byte
	config          lineConfig
	numLines        uint32
	eventBufferSize uint32
	_               [5]uint32
	fd              int32
}

type lineInfo struct {
	name, consumer [32]byte
	offset, _      uint32 // the other is the number of attrs
	flags          uint64
	attrs          [10]lineAttribute
	_              [4]uint32
}

type lineValues struct {
	bits, mask uint64
}

type lineEvent struct {
	timestamp     uint64 // ns of CLOCK_MONOTONIC
	id, offset    uint32
	seqno, lineNo uint32
	_             [6]uint32
}

// The sizes are part of the ioctl numbers; a wrong one does not compile.
var (
	_ [unix.GPIO_GET_CHIPINFO_IOCTL >> 16 & 0x3fff]byte       = [unsafe.Sizeof(chipInfo{})]byte{}
	_ [unix.GPIO_V2_GET_LINE_IOCTL >> 16 & 0x3fff]byte        = [unsafe.Sizeof(lineRequest{})]byte{}
	_ [unix.GPIO_V2_GET_LINEINFO_IOCTL >> 16 & 0x3fff]byte    = [unsafe.Sizeof(lineInfo{})]byte{}
	_ [unix.GPIO_V2_LINE_GET_VALUES_IOCTL >> 16 & 0x3fff]byte = [unsafe.Sizeof(lineValues{})]byte{}
	_ [48]byte                                                = [unsafe.Sizeof(lineEvent{})]byte{}
)

// request is what one line is asked for with. An output gets its level in the
// same step.
func request(offset uint32, flags uint64, high bool) lineRequest {
	r := lineRequest{numLines: 1, config: lineConfig{flags: flags}}
	r.offsets[0] = offset
	copy(r.consumer[:31], Consumer)
	if flags&(flagRising|flagFalling) != 0 {
		r.eventBufferSize = 256 // a card's whole message, where 16 is what the kernel keeps
	}
	if flags&flagOutput != 0 {
		r.config.numAttrs = 1
		r.config.attrs[0].mask = 1
		r.config.attrs[0].attr = lineAttribute{id: unix.GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES, value: bit(high)}
	}
	return r
}

func bit(high bool) uint64 {
	if high {
		return 1
	}
	return 0
}

// text is a name of the kernel, which ends at the first zero.
func text(b [32]byte) string {
	before, _, _ := bytes.Cut(b[:], []byte{0})
	return string(before)
}

// ioctl calls the kernel with a pointer to one of the structs above.
func ioctl[T any](fd uintptr, number uint, arg *T) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, uintptr(number), uintptr(unsafe.Pointer(arg)))
	if errno != 0 {
		return errno
	}
	return nil
}
