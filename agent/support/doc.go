// Package support makes what is handed to somebody who helps from afar: enough
// to see what is wrong, and nothing that is a secret or somebody's own.
//
// # Why
//
// What goes in is chosen, not what is left out: of a configuration and of an
// event only what is on a list is kept, so that what somebody adds later is
// left out until he thinks of it. Text that no list fits, of the log and the
// doctor, is scrubbed of every word that the building knows to be private and
// of everything that looks like a secret.
package support
