// Package drivers is the contract between the building and its hardware.
//
// A driver takes buses and options and returns one concrete device. It never
// owns a bus, never looks a pin up by a global name, and honours the context
// of every call. What a device can do is data (Description), not a type.
//
// # Why
//
// The buses are our own thin interfaces, not the pins of periph.io, for three
// reasons that cost doors: a pin of periph drives low on its first Out(High),
// turns an output into an input when it is read, and reports an I/O error as a
// low level. Here an output is asked for together with its first level, is
// remembered rather than read, and every read can fail. I2C and SPI have no
// such trap, so drivers use conn/i2c and conn/spi as they are.
package drivers
