// Package peers are the devices of other makers in the simulated building:
// those with a network address, or with a place at a broker. The O3 hub and the
// camera answer at an address of their own; gadgets are clients of the room's
// broker, each in the dialect of its product. As the chips in sim, they import
// no driver and come from their makers' documents.
package peers
