// Package doctor examines the machine under a gateway: the board and its
// buses as far as the configuration names them, clock, disk, network,
// certificates, and what the running gateway says of its devices. Each finding
// says what was seen and what to do about it.
//
// # Why
//
// It only reads. Which lines and buses are meant is asked of the drivers
// themselves: they are opened on buses that take note of every name and lead
// nowhere, so that a new driver is examined without a line of code here, and a
// line that a running gateway holds is never touched.
package doctor
