// Package acceptance proves a meeting space: it makes devices show themselves,
// walks a space device by device with what a machine can measure and what only
// a person can see, and writes the acceptance report that is signed.
//
// # Why
//
// Everything is done by ordinary commands through whatever door the caller has,
// so that what is proved is what clients use, with its evidence and events,
// and so that a gateway elsewhere can be proved too. A question that nobody
// answered is never counted as seen.
package acceptance
