// Package webcam drives a camera that Linux has at /dev/video: one on USB (UVC),
// or any other that captures by V4L2 in MJPEG or YUYV.
//
// # Hardware
//
// USB Video Class 1.0 to 1.5, as nearly all USB cameras. The ribbon cameras of
// a Raspberry Pi give neither format and do not work here.
//
// # Wiring
//
// USB. A camera of more than 500 mA, or on a long cable, wants a hub with a
// supply of its own: frames that come damaged are nearly always that. Name it
// by /dev/v4l/by-id/...-video-index0, which no other socket and no second
// camera changes; /dev/video0 is whichever came first, and the second node of
// a camera (index1) gives no pictures.
//
// # Options
//
//	device   path of the camera, required
//	format   mjpeg (default), encoded in the camera, or yuyv, encoded here
//	width    pixels, 16 to 4096, default 1280
//	height   pixels, 16 to 4096, default 720; the camera takes the nearest it has
//	skip     frames thrown away while the exposure settles, 0 to 60, default 5
//	timeout  of a picture, 100ms to 1m, default 5s
//	start    on (default) or off: the privacy switch after a start
//
// # Values
//
// "on" and "off" are a privacy switch in the gateway: off, no picture is taken,
// anybody who asks. The camera is opened for each picture and closed after it, so
// its lamp is lit only then, and one that was unplugged is found again by the
// next call. Poll asks it for its name and takes no picture. A frame that the
// kernel marks as damaged is thrown away; one that ends in its middle or has
// another size is an error, never a picture: each is decoded to its last pixel
// before anybody sees it.
//
// # Safe state
//
// Without a picture being taken the camera is closed: at start, at stop and
// after a crash or a kill, when the kernel closes it. A hang in the middle of
// a picture leaves its lamp lit until the watchdog kills the process.
package webcam
