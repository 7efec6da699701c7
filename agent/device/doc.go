// Package device is one device of a room: the loop that alone talks to it, what
// is known of it, how it is set, its commands and their receipts.
//
// A [Device] is loaded with what was last known of it and runs until its context
// ends. Readers take no lock: they see a snapshot that is replaced whole, and
// that shows the device as offline once nobody renews it.
//
// [Commands] knows the commands of all devices by their ids. A command is stored
// before it takes effect, carried out once and answered by one receipt, also
// over a restart.
package device
