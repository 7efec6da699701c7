// Package api is the local HTTP door of the building: the platform's V1.0
// interface, the gateway's own operations, and what operators look at.
//
// One table, routes, names every operation. The two doors, Handler for the
// network and Control for the control socket, serve the same table; they
// differ in who may come in.
//
// V2.0 is in the same table: each of its operations names that of V1.0 which it
// is the twin of, and has its permission and mostly its handler. The handlers
// know no more of versions than which record to answer with; records, names
// and pages of V2.0 are in the files that begin with v2.
//
// # Why
//
// A right key is never refused because of wrong ones from the same address:
// keys are too long to be guessed over a network, and a broken client behind
// the same address must not lock out the display of a room.
package api
