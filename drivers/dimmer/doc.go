// Package dimmer is what lights and fans share: a PWM channel that is driven
// with an intensity from 0 to 100 %, remembers the last one, and reads it back.
//
// # Why
//
// Below some share of on-time most loads do nothing: an LED driver stays dark,
// a fan stands still. Intensities 1 to 100 therefore lie evenly between that
// minimum and 1, and only 0 is off. The mapping has an inverse, so the duty
// that is read back from the channel is told as the intensity that was asked.
package dimmer
