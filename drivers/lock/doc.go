// Package lock drives a door lock through one relay, and reads the bolt and
// the door leaf back where they are wired.
//
// # Hardware
//
// Any relay board with one input per relay (active high or active low) before
// an electric strike, a motor bolt or a magnet. Read-back is a switch at the
// bolt or in the strike (sense) and a reed contact at the leaf (contact).
//
// # Wiring
//
//   - relay: energised means unlocked. A strike that opens with power sits on
//     the NO contact, a magnet that holds with power on the NC contact, so the
//     same level means the same thing. Pull the input of the relay board to its
//     locked level with a resistor (10 kΩ): the line floats while the board
//     boots and after the process was killed, and only the resistor keeps the
//     door locked then.
//   - sense: a switch to ground that closes when the bolt is thrown, with the
//     pull-up of the board. A cut cable then reads as open, never as closed.
//   - contact: a reed switch to ground that closes when the leaf is shut, with
//     the pull-up. A cut cable reads as ajar.
//   - keypad: the two Wiegand lines of a keypad or card reader, wired as package
//     wiegand says. What is entered there is told as codeEntered and opens
//     nothing by itself: the building, which knows the codes, judges it.
//   - The door opens from inside by its handle, always, without this driver.
//
// # Options
//
//	relay             line of the relay, required
//	active_low        the relay is energised by a low level
//	sense             line of the bolt or strike switch
//	sense_high_means  open (default) or closed
//	contact           line of the leaf's contact
//	contact_high_means ajar (default) or shut
//	mode              pulse (default): locks again by itself; hold: open until close
//	relock            unlock time of a pulse, 1s to 60s, default 5s
//	held_open         how long the leaf may be open, 0 (never told) to 1h, default 30s
//	settle            how long the bolt may take to follow, 10ms to 10s, default 500ms
//	keypad            {d0: line, d1: line} of a Wiegand keypad or card reader
//
// # Safe state
//
// Locked. The relay is the only output.
//
//	start  the line is asked for at its locked level in one step: no pulse
//	stop   Close locks, whatever the unlock time was
//	unlock time over
//	       the driver's own timer locks, though nobody polls; a relay that
//	       refuses is tried again each second
//	command not followed, or cancelled
//	       locked again
//	crash, kill
//	       the kernel takes the line back: it keeps its level on most boards
//	       and floats on others. The resistor above decides where it floats;
//	       where it keeps its level a door that was just open stays so until
//	       the next start, seconds later by the service manager, locks it
//	hang   of the building: the timer locks. Of the whole process: the watchdog
//	       kills it, then as above
//	power cut
//	       the lock's own nature, fail-secure or fail-safe, decides
package lock
