// Package o3 drives Delta Controls' O3 sensor hub (O3 Edge, O3 Hub) over the
// hub's own MQTT dialect.
//
// The hub is a ceiling unit with a thermometer, an occupancy sensor, a speaker
// and a light ring. It runs an MQTT 3.1.1 broker on port 1883 and this driver
// is one client of it, with a user name and a password. A hub that is bridged
// to another broker is reached there, its topics under Options.Prefix.
//
// Sources: the maker's support articles "MQTT and the O3", "MQTT Subscribe
// Topics", "MQTT Publish Topics" and "Sounds". The topics are in topics.go.
//
// Wiring: Ethernet with power, nothing else.
//
// # Options
//
//	address        host:port of the hub, required
//	username       user (default); empty to log in without
//	password       beside it, or
//	password_file  a file with the password in its first line, read each time
//	prefix         of a bridged hub's topics, without a slash at the end
//	temperature    occupantTemperature (default), irTemperature,
//	               internalTemperature, rawTemperature
//	occupancy      combinedOccupancy (default), motion, acousticOccupancy
//	idle_sound     what the speaker plays when it is silent
//	silence        30s: how long the hub may report nothing
//	stale          of temperature and occupancy 5m, of buzzer and ring-light 0:
//	               the age from which a value is unknown. With 0 it is never,
//	               unless the hub used to repeat it: then 5m, or three of its
//	               pauses if that is longer
//	timeout        3s: for the report that confirms an order
//
// After silence the reports are subscribed again, after twice as long the
// driver connects again, after three times the hub is offline. A lost
// connection is offline at once; the next is tried after 0.25 to 15 s.
//
// # Why
//
// The hub's clock has no zone and is often wrong, so a value is as old as its
// receipt here. A retained report could be of any age and is not an
// observation. Nothing that was heard on an earlier connection counts on this
// one. An order is done when the hub reports the new value, not when a broker
// has acknowledged it.
//
// An unreadable report makes its value unknown until the next good one: the
// hub has just said something newer than what we remember.
//
// # Sounds
//
// The buzzer plays the hub's default sounds. The patterns of a beep are
//
//	single, double, triple   "(4) Ding.wav" once, twice, three times
//	alarm                    "(10) Alarm.wav" once for each second, rounded up
//
// The length of a sound is not published; a second is taken. "on" repeats the
// alarm as often as the hub allows, until "off".
//
// # Safe state
//
// At Close the driver darkens a ring and silences a speaker that are known to
// be on. A hub whose gateway is gone keeps its last look.
package o3
