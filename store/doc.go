// Package store keeps the rows of a gateway in one bbolt file and knows no noun of the building.
//
// A Table maps string keys to values, a Queue numbers its values from 1 and is bounded. Both live inside
// transactions of a DB: View reads one consistent state, Update changes it and is durable when it returns nil.
// Concurrent Updates share one bbolt transaction and one pair of disk syncs, yet each keeps its own fate:
// a function that fails or panics is undone alone.
//
// Open checks the whole file before bbolt maps it, sets a damaged file aside and builds a new one of what it still
// gives and of the last good snapshot. Each value carries a version and a CRC-32C over bucket, key and payload, because
// bbolt has no page checksums.
//
// Below this package, queue keeps the rows of a queue in its buckets, and undo takes back what a function has written. pages
// reads files that may be damaged, and salvage makes the new one.
//
// Keep transactions short, copy what you need out of them, and never call Update inside View or inside another
// Update: the inner call waits for the outer one for ever.
package store
