//go:build race

package broker

// raced says that the race detector is on, which needs several times the memory.
const raced = true
