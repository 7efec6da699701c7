// Package camera drives network cameras that give a picture on an HTTP request,
// as nearly all do beside their video.
//
// # Wiring
//
// Ethernet or Wi-Fi. The address of the picture is in the camera's manual:
// often /snapshot.jpg, /cgi-bin/snapshot.cgi, /axis-cgi/jpg/image.cgi,
// /ISAPI/Streaming/channels/101/picture.
//
// # Options
//
//	url            of the picture, http or https, without user name; required
//	username       for basic and digest authentication
//	password       beside it, or
//	password_file  a file with the password in its first line, read each time
//	auth           auto (default), none, basic, digest
//	probe          head (default), get, tcp: how Poll looks for the camera
//	max_bytes      of a picture, 4 MiB by default
//	timeout        of a request, 5s by default
//	start          on (default) or off: the privacy switch after a start
//	ca_file        certificates (PEM) that an https camera is checked against
//	fingerprint    SHA-256 of an https camera's own certificate, in hex
//
// Digest is RFC 7616 with MD5, SHA-256 or SHA-512-256. With auto the camera
// chooses, and one that asks for basic over http gets the password in the
// clear: set digest to rule that out. A self-signed camera needs its
// fingerprint, or its certificate as ca_file.
//
// # Values
//
// "on" and "off" are a privacy switch in the gateway: off, no picture is taken,
// anybody who asks. The camera itself goes on. The switch is not kept over a
// restart, see start. A snapshot is returned only if it is a whole JPEG.
//
// Poll asks for the picture's headers without logging in: any answer but 404
// and a server's error shows that the camera is there, and a wrong password
// does not lock the account. Cameras that do not answer HEAD take get or tcp.
//
// Camera, the privacy switch over a source of pictures, also serves the
// cameras of package webcam.
package camera
