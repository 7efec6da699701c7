package parts

import (
	"context"
	"errors"
	"time"

	"periph.io/x/conn/v3/i2c"
)

// Commands of the SHT3x-DIS (Sensirion, Datasheet SHT3x-DIS, version 7,
// section 4), 16 bits, high byte first.
const cmdMeasure = 0x2400 // one measurement, high repeatability, no clock stretching

// measuring takes 12.5 ms, at most 15.5 (table 4).
const measuring = 16 * time.Millisecond

var errChecksum = errors.New("checksum is wrong: look for disturbed wires or another chip")

// sht31 is the chip. It measures only when it is told to and gives each
// measurement once, so what it answers is never old: without one it does not
// acknowledge.
type sht31 struct{ dev i2c.Dev }

func (s *sht31) celsius(ctx context.Context) (float64, error) {
	if err := s.dev.Tx([]byte{cmdMeasure >> 8, cmdMeasure & 0xff}, nil); err != nil {
		return 0, err
	}
	if err := settle(ctx, measuring); err != nil {
		return 0, err
	}
	var r [6]byte // temperature, its checksum, humidity, its checksum
	if err := s.dev.Tx(nil, r[:]); err != nil {
		return 0, err
	}
	if crc8(r[0:2]) != r[2] || crc8(r[3:5]) != r[5] {
		return 0, errChecksum
	}
	return sht31Celsius(uint16(r[0])<<8 | uint16(r[1]))
}

// sht31Celsius turns a raw value into °C (section 4.13).
func sht31Celsius(raw uint16) (float64, error) {
	return inRange(-45 + 175*float64(raw)/65535)
}

// crc8 is the checksum of two bytes: polynomial 0x31, first value 0xff
// (section 4.12; 0xbeef gives 0x92).
func crc8(data []byte) byte {
	crc := byte(0xff)
	for _, b := range data {
		crc ^= b
		for range 8 {
			high := crc & 0x80
			crc <<= 1
			if high != 0 {
				crc ^= 0x31
			}
		}
	}
	return crc
}
