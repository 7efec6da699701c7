package parts

import (
	"context"
	"time"
)

// Registers of the TMP102 (SBOS397, tables 6 to 10), 16 bits, high byte first.
const (
	regTemperature   = 0x00 // r   12 bits from the left, 1/16 °C, two's complement
	regConfiguration = 0x01 // rw
)

// Bits of the configuration register.
const (
	bitOS    = 1 << 15 // w: convert once, while shut down; r: 0 while converting
	bitsR    = 3 << 13 // r: always 11, 12 bits of resolution
	bitSD    = 1 << 8  // rw: shut down between conversions
	bitsRate = 2 << 6  // rw: conversion rate, 10 as after power-up
	bitAL    = 1 << 5  // r: alert, follows the temperature
	shutDown = bitsR | bitSD | bitsRate
)

const (
	// conversion takes 26 ms, at most 35 (SBOS397, section 6.5).
	conversion = 30 * time.Millisecond
	askAgain   = 5 * time.Millisecond
	// tooLong is when a conversion certainly failed.
	tooLong = 70 * time.Millisecond
)

// tmp102 is the chip. Each reading is a conversion of its own: the register
// alone does not tell whether its content is new, and shows 0 °C after a
// power-up.
type tmp102 struct{ registers }

// celsius converts once and returns the temperature in °C.
func (t *tmp102) celsius(ctx context.Context) (float64, error) {
	// A chip that has just lost its power runs freely: shut it down first,
	// only then it takes a single conversion.
	for _, config := range []uint16{shutDown, shutDown | bitOS} {
		if err := t.write(regConfiguration, config); err != nil {
			return 0, err
		}
	}
	if err := t.converted(ctx); err != nil {
		return 0, err
	}
	raw, err := t.read(regTemperature)
	if err != nil {
		return 0, err
	}
	return decode(raw)
}

// converted waits until the conversion is complete.
func (t *tmp102) converted(ctx context.Context) error {
	wait := conversion
	for waited := time.Duration(0); waited < tooLong; waited += wait {
		if waited > 0 {
			wait = askAgain
		}
		if err := settle(ctx, wait); err != nil {
			return err
		}
		config, err := t.read(regConfiguration)
		switch {
		case err != nil:
			return err
		case config&^(bitOS|bitAL) != shutDown:
			return errStrange
		case config&bitOS != 0:
			return nil
		}
	}
	return errNotReady
}

// decode turns the temperature register into °C. Its low four bits are always
// 0, which a bus with nobody on it does not show.
func decode(raw uint16) (float64, error) {
	if raw&0x000f != 0 {
		return 0, errStrange
	}
	c := float64(int16(raw)>>4) / 16
	return inRange(c)
}
