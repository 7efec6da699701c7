//go:build integration || faults

package main

// overlayOfControl names the environment variable with the overlay of a control, for tests that build the program.
const overlayOfControl = "ROOMGATE_TEST_OVERLAY"

// standIns is what go build -overlay reads: which files stand in for which.
type standIns struct{ Replace map[string]string }
