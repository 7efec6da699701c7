// Package mail brings letters to a mail relay (RFC 5321, RFC 6409). A [Queue]
// stores them, sealed, until the relay has taken them; a [Relay] takes one
// letter and keeps nothing.
//
// # Why
//
// The relay is net/smtp of the standard library with what that leaves to its callers,
// because a gateway sends short texts to one relay: encryption is demanded
// before anything is said and never fallen back from, one letter has one
// deadline, what a relay may say is bounded, and every failure is sorted into
// "again later" and "never".
package mail
