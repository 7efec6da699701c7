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
// Each test is named for a row of the table that `make lab` prints:
// Test/device/bus/operation/fault.
package lab
