// Package booking is the schedule of one meeting space: what a booking is, what
// may be done to it and when, who yields when two sides disagree, and what the
// door sign says at a moment. It reads no clock and touches no disk: every
// function is told the time and returns what would be true.
//
// # Why
//
// The building decides alone while the cloud is away, and both must come to the
// same end when it is back, whatever the order of messages. So the rules are
// pure functions that both sides call, and a property test can try every order.
package booking
