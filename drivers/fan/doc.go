// Package fan drives a fan through one PWM channel and counts its tachometer.
//
// # Hardware
//
// A fan after Intel's "4-Wire Pulse Width Modulation (PWM) Controlled Fans
// Specification" (September 2005, revision 1.3): control at 25 kHz (21 to
// 28 kHz) on an open-collector input that is pulled up inside the fan, a
// minimum speed at 30 % of on-time or less, two tachometer pulses a turn from
// an open collector.
//
// # Wiring
//
// The channel drives the control wire through an open collector or a MOSFET
// that does not turn the level over. The tachometer wire goes to the input
// line with the pull-up of the board (3.3 V, never the fan's 12 V). A fan
// with no control signal runs at full speed by its own pull-up, unless the
// channel also switches its supply.
//
// # Options
//
//	channel      name of the PWM channel, required
//	frequency    Hz, default 25000
//	minimum      share of on-time at intensity 0+, 0 to 0.9, default 0.2
//	start_share  share of on-time with which a standing fan is started, default 0.3
//	tach         input line of the tachometer; without it nothing proves that it turns
//	pulses       tachometer pulses a turn, 1 to 8, default 2
//	min_rpm      speed below which the fan counts as standing, default 300
//	spin_up      how long a fan may take to start, 250ms to 10s, default 2s
//
// # Values
//
// With a tachometer "on" means that the fan turns. One that is driven and does
// not turn is "off" with the detail stalled, raises fanStalled once, and stays
// driven: most start again when what blocked them is gone. A command that does
// not make the fan turn is taken back.
//
// # Safe state
//
// Standing, or turning: neither is a danger, and moving air is the better one
// while nobody is in control.
//
//	start  duty 0 is what the channel starts with
//	stop   Close sets duty 0
//	command not followed
//	       taken back: the duty from before the command
//	crash, kill, hang
//	       the channel keeps its duty; the next start, after a hang by the
//	       watchdog, stands still
//	control wire cut, board boots
//	       full speed by the fan's own pull-up, unless the channel also
//	       switches its supply
package fan
