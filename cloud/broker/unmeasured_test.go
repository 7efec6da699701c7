//go:build !integration || race

package broker

// measured is said in measured_test.go.
const measured = false
