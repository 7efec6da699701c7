// Package display is a meeting room display: a screen with a browser that
// shows the page of its room, and a line that switches the screen's backlight.
//
// # Hardware
//
// Any tablet or panel whose browser opens the display page. The driver reaches
// it through the page alone (drivers.Page), and the backlight through a line
// to the panel's enable input or to a relay of its supply.
//
// # Wiring
//
// The backlight line is high for light, or low with active_low. Pull it to
// light with a resistor: a display that nobody drives shall be seen.
//
// # Options
//
//	page        name of the page, required; the building fills in the space's id
//	backlight   line of the backlight; without one the page is asked to go dark
//	active_low  the backlight is lit by a low level
//	stale       silence after which the display is offline, 3s to 10m, default 15s
//
// # Values
//
// A display has no value, it is there or not: online while its page has beaten
// within stale. Commands to the page are confirmed by the page's own answer. The
// backlight line cannot be read back; its source is the order.
//
// # Safe state
//
// Lit, at start, at Close and, by the resistor, after a crash or a kill: people
// at the door see what the page has to say about a gateway that is away.
package display
