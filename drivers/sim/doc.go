// Package sim is a building in memory: the buses that drivers take, and at
// their far end the parts of a room, each answering byte by byte and level by
// level as its datasheet says. It imports no driver, so that a driver and its
// part are two independent readings of one document.
//
// The chips and wires of the board are here. What a driver reaches over the
// building's network is in peers; plan reads a whole building from a file.
//
// # Time
//
// Parts compute what they show from the time that has passed; nothing ticks
// while nobody listens. The package uses only channels, short locks and the
// time package, so that it works in real time and in a testing/synctest
// bubble alike.
//
// # Faults
//
// Every part can be unplugged, stuck, garbled and delayed. Its lines and
// channels then behave as if they were on an expander of its own: unplugged,
// every access fails; stuck, every access waits; garbled, what has a check
// fails it, and what has none comes out wrong.
package sim
