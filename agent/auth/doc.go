// Package auth is what signing in needs and no building: one-time passwords,
// tokens, permissions, and the budgets that make guessing hopeless. It stores
// nothing and starts nothing; time and state are handed in.
//
// # Why
//
// Tokens are signed with HMAC-SHA256 (RFC 7518 section 3.2), not with a key
// pair: the gateway that issues a token is the only one that judges it, and on
// a small board an HMAC costs a hundredth of an Ed25519 verification, at every
// request.
//
// A one-time password has a million values, which no slow hash protects. It is
// kept as an HMAC under a secret that is not in the database, lives ten
// minutes, counts its tries, and an address gets few of them.
//
// A wall clock decides nothing unless it is trusted. Everything that
// expires carries a Moment, by which the same run of the process judges by its
// monotonic clock, another run by the wall clock if that was trusted both
// times, and otherwise not at all: a person signs in again.
package auth
