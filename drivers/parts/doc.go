// Package parts is a sensor hub made of parts: what an O3 has, wired by hand.
//
// # Hardware
//
//   - temperature, on I2C, one of
//     TMP102, Texas Instruments SBOS397: 12 bits of 1/16 °C, addresses 0x48 to
//     0x4b;
//     SHT31-D (also SHT30, SHT35), Sensirion Datasheet SHT3x-DIS: 16 bits with
//     a checksum, addresses 0x44 and 0x45;
//     MCP9808, Microchip DS25095A: 12 bits, used at 1/8 °C, addresses 0x18 to
//     0x1f. All from -40 to 125 °C.
//   - occupancy: a passive infrared sensor with a digital output that is high
//     on motion, as an HC-SR501 or an AM312.
//   - buzzer: a buzzer with its own oscillator, behind a transistor.
//   - ring-light: up to 256 LEDs on SPI, either APA102 (or SK9822), with a
//     clock, or WS2812B, whose one wire the SPI data line imitates.
//
// # Wiring
//
//   - Thermometer: 3.3 V, SDA and SCL with 4.7 kΩ pull-ups; ADD0 (TMP102), ADDR
//     (SHT31) or A0 to A2 (MCP9808) choose the address. Away from what warms it.
//   - PIR: output to the input line, with the pull-down of the board, so that
//     a cut cable reads as nobody there.
//   - Buzzer: the line drives the transistor, with 10 kΩ to its silent level.
//   - Ring: MOSI to DI, and for an APA102 SCLK to CI, through a level shifter at
//     5 V. Up to 60 mA an LED at full white: size the supply for leds x 60 mA.
//     A WS2812 takes the port for itself: its clock must be 3.16 to 3.33 MHz,
//     and a transfer must not be cut (spidev's bufsiz of 4096 is enough).
//
// # Options
//
//	bus                I2C bus of the thermometer, required
//	chip               tmp102 (default), sht31 or mcp9808
//	address            its address; 0 (default) is the chip's first
//	pir                line of the infrared sensor, required
//	hold               occupied for this long after motion, 1s to 1h, default 60s
//	buzzer             line of the buzzer, required
//	buzzer_active_low  the buzzer sounds at a low level
//	ring               SPI port of the ring, required
//	strip              apa102 (default) or ws2812
//	leds               LEDs on the ring, 1 to 256, default 12
//
// # Values
//
// The room is vacant until the first motion: most infrared sensors say nothing
// of use in the first minute after power-up anyway. Each temperature is a
// conversion that was asked for and is complete, never the register's old
// content. Buzzer and ring cannot be read back, their
// source is the command; each poll sends their state again, which heals a part
// that lost power and finds one that is gone. A part that fails or hangs does
// so alone; only when all do the hub does.
//
// # Safe state
//
// The buzzer is silent, the ring is dark; thermometer and sensor only listen.
//
//	start  buzzer: its line is asked for at the silent level; ring: painted dark
//	stop   both, after the goroutines that sound a pattern or move the ring ended
//	crash, kill
//	       buzzer: the line is given back and stays or floats, the resistor
//	       silences it where it floats; ring: keeps its last picture. The next
//	       start, seconds later by the service manager, makes both safe
//	hang   as they are; the watchdog turns it into a kill and a start. A beep
//	       is timed in the driver and ends if only the building hangs
package parts
