// Package light drives a dimmable light through one PWM channel.
//
// # Hardware
//
// Any LED driver or MOSFET stage with a PWM dimming input, for example one
// after IEC 62384 with an input of 100 Hz to 3 kHz.
//
// # Wiring
//
// The channel goes to the dimming input, active high: the share of on-time is
// the share of light. Pull the input low with a resistor (10 kΩ), so that the
// light is off while the board boots.
//
// # Options
//
//	channel    name of the PWM channel, required
//	frequency  Hz, default 1000: fast enough that no camera sees it flicker much
//	minimum    share of on-time at which the light starts, 0 to 0.9, default 0
//
// # Safe state
//
// Off. A light is no danger, so what cannot be reached stays as it is: people
// are not left in the dark.
//
//	start  duty 0 is what the channel starts with, so nothing flashes
//	stop   Close sets duty 0
//	crash, kill, hang
//	       the channel keeps its duty; the next start, after a hang by the
//	       watchdog, is off
//	board boots, power cut
//	       the resistor above keeps the input low: off
package light
