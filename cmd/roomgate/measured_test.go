//go:build integration && !race

package main

// measured says that memory and time are measured: make test-all and make faults do. The race detector
// needs several times of both.
const measured = true
