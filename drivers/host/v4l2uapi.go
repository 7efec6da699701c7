package host

import (
	"unsafe"
)

// The kernel's video interface: include/uapi/linux/videodev2.h, same names.
// Times have 64 bits, as Linux 5.6 and newer take them on every machine; only
// pointers and longs differ between 32 and 64 bit.

const (
	pointerSize = unsafe.Sizeof(uintptr(0))

	capVideoCapture = 1 << 0
	capStreaming    = 1 << 26
	capDeviceCaps   = 1 << 31

	bufVideoCapture = 1 // V4L2_BUF_TYPE_VIDEO_CAPTURE
	memoryMMAP      = 1
	flagError       = 1 << 6 // V4L2_BUF_FLAG_ERROR: the data may be damaged
	fullRange       = 1      // V4L2_QUANTIZATION_FULL_RANGE
)

// Fields that nobody reads have no name; the comment says what they are.

type videoCapability struct {
	_            [16]byte // driver
	card         [32]byte
	_            [32]byte // bus
	_            uint32   // version
	capabilities uint32   // of all nodes of the device
	deviceCaps   uint32   // of this one
	_            [3]uint32
}

type videoFormat struct {
	kind            uint32
	_               [pointerSize/4 - 1]uint32 // the union has pointers
	width, height   uint32
	pixels          uint32 // four characters
	_, bytesPerLine uint32 // field
	_, _            uint32 // sizeimage, colorspace
	_, _, _         uint32 // priv, flags, ycbcr_enc
	quantization, _ uint32 // xfer_func
	_               [200 - 48]byte
}

type videoRequest struct {
	count, kind, memory uint32
	_                   [2]uint32
}

type videoBuffer struct {
	index, kind, used uint32
	flags, _, _       uint32   // field, padding
	seconds, _        int64    // timestamp; measured by a test
	_                 [16]byte // timecode
	_, memory         uint32   // sequence
	offset            uint32
	_                 [pointerSize/4 - 1]uint32 // of a union with a pointer
	length, _, _      uint32                    // reserved, request
}

// The directions of an ioctl.
const (
	ioWrite = 1 // to the kernel
	ioRead  = 2
)

// videoCall is the number of an ioctl of the group 'V'.
func videoCall(direction, number, size uintptr) uint {
	return uint(direction<<30 | size<<16 | 'V'<<8 | number)
}

var (
	videoQueryCap  = videoCall(ioRead, 0, unsafe.Sizeof(videoCapability{}))
	videoSetFormat = videoCall(ioRead|ioWrite, 5, unsafe.Sizeof(videoFormat{}))
	videoReqBufs   = videoCall(ioRead|ioWrite, 8, unsafe.Sizeof(videoRequest{}))
	videoQueryBuf  = videoCall(ioRead|ioWrite, 9, unsafe.Sizeof(videoBuffer{}))
	videoQBuf      = videoCall(ioRead|ioWrite, 15, unsafe.Sizeof(videoBuffer{}))
	videoDQBuf     = videoCall(ioRead|ioWrite, 17, unsafe.Sizeof(videoBuffer{}))
	videoStreamOn  = videoCall(ioWrite, 18, 4)
	videoStreamOff = videoCall(ioWrite, 19, 4)
)

// The sizes are part of the ioctl numbers; a wrong one does not compile.
var (
	_ [104]byte                = [unsafe.Sizeof(videoCapability{})]byte{}
	_ [200 + pointerSize]byte  = [unsafe.Sizeof(videoFormat{})]byte{}
	_ [20]byte                 = [unsafe.Sizeof(videoRequest{})]byte{}
	_ [72 + 2*pointerSize]byte = [unsafe.Sizeof(videoBuffer{})]byte{}
)

// fourCC is the kernel's name of a form of pixels.
func fourCC(name string) uint32 {
	return uint32(name[0]) | uint32(name[1])<<8 | uint32(name[2])<<16 | uint32(name[3])<<24
}
