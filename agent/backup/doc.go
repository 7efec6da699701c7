// Package backup is the backup of a gateway: what is in one, how it is sealed
// with a passphrase, and how a data folder changes from the old to the new
// without ever being half of each.
//
// A backup is an age file (age-encryption.org/v1, scrypt recipient) with a
// gzipped tar in it, the manifest first. That is on purpose nothing of our own:
// when no gateway is left, `age -d FILE | tar xz` on any computer opens it.
//
// # Why
//
// The checksums stand in the manifest, before what they are of, so that a
// reader knows from the start how much is coming and refuses what is too much.
// age authenticates every 64 KiB and the end, so what is cut off or changed is
// an error and never a shorter backup.
package backup
