// Package lab proves the drivers on a real kernel. It holds no code of the
// product: everything here is behind the build tag lab, and `make lab` runs it.
//
// An ARM64 machine boots under qemu with a board (module/) whose GPIO
// lines, I2C, SPI and PWM are the kernel's ordinary ones. Their wires lead to a
// process that has /dev/labhw open: there the parts of drivers/sim are wired
// up, chips written from their datasheets, with all their faults. Driver,
// ioctls and kernel are real, the silicon is not.
//
// In the machine the test binary of this package runs the conformance suite,
// the faults and the fail-safe tests. Started as `lab.test world FILE` it is
// the world for a whole gateway, which is then reached from outside: see
// cmd/roomgate/lab_test.go.
//
// Two more machines follow. One has Debian's systemd, with unit, udev rules and
// watchdog as a package installs them: there the gateway hangs and crashes, and
// the whole machine stands still with its interrupts off, until the card resets
// it. The other is a board of 32 bits, an AST2600, whose GPIO and watchdog are
// those of the chip as qemu has them, without code of ours.
//
// The first one has a disk when it is updated, and loses its power at any moment:
// what was not flushed is gone, which the test first makes sure of. `make wall` has
// one more, which boots a Debian from a disk by UEFI, as installers make it.
//
// Each test is named for a row of the table that `make lab` prints:
// Test/device/bus/operation/fault.
package lab
