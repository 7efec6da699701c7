// Package mqttdevice drives devices that people already own and that speak at the
// building's room broker: through Zigbee2MQTT, or with the firmware of
// Tasmota, ESPHome or Shelly (Gen2 and later).
//
// Sources: the products' public documentation, named in testdata/README.md.
// The topics of a dialect are at the top of its file.
//
// Wiring: none. The device, or its bridge, is a client of the room broker.
//
// # Drivers
//
//	                   lock  light  fan             as a source of o3-room
//	zigbee2mqtt        x     x      modes, speed    temperature, occupancy, presence
//	tasmota                  x      FanSpeed, relay temperature, SwitchN as occupancy
//	esphome            x     x      x               sensor, binary_sensor
//	shelly                   x      as a switch     temperature:N, input:N as occupancy
//
// They are named lock-zigbee2mqtt, light-tasmota and so on. o3-room makes one
// o3-sensor of a temperature and an occupancy, each from any device; its
// buzzer and ring-light are not fitted, nor is a source that is left out.
//
// # Options
//
//	topic          zigbee2mqtt: base topic and friendly name, zigbee2mqtt/lamp
//	               tasmota: the topic, or a full topic with %prefix% in it
//	               esphome: the topic prefix
//	               shelly: the MQTT prefix
//	name           esphome: the object id; tasmota: a sensor, as AM2301,
//	               Switch1 or ANALOG.Temperature2
//	node           esphome: the device's name, if it is not the prefix
//	               zigbee2mqtt: the base topic, if it has more than one level
//	component      shelly: light:0 (lights), switch:0 (fans), temperature:0, input:0
//	relay          tasmota: which POWER, 1 to 32, and which Dimmer; 0 for the only one
//	state_on       with state_off, tasmota: its words for ON and OFF, if StateText
//	               has others: AN and AUS
//	endpoint       zigbee2mqtt: which of several gangs, as left, right, l1
//	top_speed      zigbee2mqtt: of a fan with state and speed, its fastest: 254
//	on_off         true: it cannot be dimmed
//	speeds         esphome: how many speeds a fan has, 100
//	               zigbee2mqtt: how many, if its modes are numbers: 9 for IKEA's E2007
//	broker         room:1883, the building's own; else host:port
//	username       with password or password_file, for another broker
//	silence        5m; 2h30m for what runs on a battery: after that long without
//	               a word it is offline, and a value of which there was no word
//	               is, whatever else is said. It is asked every third of it
//	timeout        3s; 15s for locks: for the report that confirms an order. The
//	               device's own timeout, 2s unless set, ends the wait sooner
//
// o3-room has temperature and occupancy, each a mapping of dialect, topic,
// name, node, component and
//
//	sleeps         true: it is at the broker only when it has something to say
//
// and beside them
//
//	unit           C (default) or F, of a thermometer that does not say
//
// # Why
//
// A retained message may be of any age: it is a last known value, and the
// device is offline until it answers. Zigbee2MQTT is asked with /get, Tasmota
// with State or Status 10, Shelly with Shelly.GetStatus. An ESPHome node has
// no such question, but it publishes each change in order, so its retained
// words are as good as new once it has answered a ping (its discover_ip must
// be on, as it is by default). A Zigbee sensor is not asked and is unknown
// until it reports.
//
// Each value ages by itself. A value ends at once when the device says null, an
// empty text, nan, None, unknown, unavailable or something that cannot be read,
// and when Tasmota's STATUS10 or Shelly's full status leaves it out. The driver
// asks for a value that Tasmota's SENSOR leaves out. An ESPHome node sends a
// temperature as often as it measures, so its answer to a ping does not keep
// one. Zigbee2MQTT repeats with each message what it remembers of every value
// (cache_state): a value that the device no longer measures ends there only
// when it becomes null.
//
// A last will makes a device offline at once, and so does that of the bridge
// that speaks for it. After its start Zigbee2MQTT sends what it remembers as
// if it were new, so for 10 s nothing that it says counts.
//
// An order is done when the device reports it. Devices say nothing when they
// are so already, hence they are asked too.
//
// # Safe state
//
// A light or fan is left as it is. A lock is ordered closed at Close unless it
// is known to be, and when it was ordered open and has not proved it. Who may
// publish at the broker could unlock such a door, so the room broker takes
// orders for it, its node or its bridge from the gateway alone (Account.Opens):
// lamps beside a door on one Zigbee2MQTT take theirs from the gateway too. What a
// device says of itself is believed: anybody who may publish for it can make it seem
// locked, so each of them is a user of its own (Options.Accounts). A door that
// guards something belongs on a relay.
package mqttdevice
