// Package wiegand reads keypads and card readers by their two data lines.
//
// # Hardware
//
// Any reader with a Wiegand output (Security Industry Association, AC-01):
// a short low on D0 is a 0, one on D1 a 1; 20 to 100 µs long, 200 µs to 20 ms
// apart. A pause ends the message. Cards come in 26 bits (HID H10301: 8 bits of
// facility, 16 of number), 34 (H10306: 16 and 16) or 37 (H10304: 16 and 19),
// between an even and an odd parity. Keys come one by one in 4 bits, or in 8 of
// which the first 4 are the others turned over; 10 is *, 11 is #.
//
// # Wiring
//
// D0 (green) and D1 (white) of the reader drive 5 V through an open collector
// or not: put a level shifter or a divider (3.3 kΩ in the wire, 6.8 kΩ to
// ground) before each line of a 3.3 V board. Both lines rest high. Common
// ground; shielded cable, up to 150 m. The reader belongs outside, this
// gateway and the lock's wires inside.
//
// Set a keypad to send single keys (4 or 8 bits). One that collects the code
// itself and sends it as if it were a card makes a secret look like a card
// number, which the log shows.
//
// # Values
//
// Each card, and each code that # or a pause of 5 s ended, is one
// drivers.EventCodeEntered. * begins again; # alone is nothing; more than 16
// digits are no code. A message of another length or with a wrong parity is
// dropped: the person tries again. The digits themselves are only in the
// event's Code. A Wiegand line has no answer and no guard: anybody who reaches the
// cable reads along and can replay a card.
package wiegand
