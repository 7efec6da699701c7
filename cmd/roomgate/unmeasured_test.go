//go:build !integration || race

package main

// measured is said in measured_test.go.
const measured = false
