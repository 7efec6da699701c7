// Package queue keeps the rows of one queue in the buckets of a bbolt file: its oldest row and its counters, and the
// youngest rows, which lie beside the others for a while. It knows no values, and no database: a transaction comes from above.
package queue
