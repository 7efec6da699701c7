package setup

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"roomgate/drivers"
)

// Ask is a question about a device, whoever asks it: setup at a terminal, or a form of
// the console.
type Ask struct {
	Key    string // of the driver's options; one within another is "temperature.topic"
	Text   string // what is asked for, in a few words
	Help   string // what it is, and how one is written
	Of     Part   // of the board, from which it is chosen
	Needed bool   // the device is nothing without it
	Secret bool
	Switch bool // yes or no
	Check  func(string) error
}

// Way is how a device can be there.
type Way struct {
	Driver  string
	Type    string // of the device
	Dialect string // with which it speaks at the room broker; empty: it does not
	Name    string // for people, in a word or two
	About   string // what that is
	Asks    []Ask  // in order; the first tells whether it is there
}

// ID names a way among all. It is the driver's, but for the sensors that speak dialects.
func (w Way) ID() string {
	if w.Driver == "o3-room" {
		return w.Driver + "-" + w.Dialect
	}
	return w.Driver
}

// Ways are all that setup can ask about, by the type of device.
func Ways(kinds []drivers.Kind) (all []Way) {
	for _, deviceType := range []string{drivers.TypeLock, drivers.TypeLight, drivers.TypeFan} {
		all = append(append(all, onBoard[deviceType]), atRoomBroker(kinds, deviceType)...)
	}
	all = append(all, hub, partsHub)
	for _, dialect := range Dialects(kinds, drivers.TypeLight) { // every one of which has sensors too
		all = append(all, sensors(dialect))
	}
	return append(all, usbCamera, webCamera, display)
}

// WayOf is the way of that id.
func WayOf(kinds []drivers.Kind, id string) (Way, bool) {
	all := Ways(kinds)
	i := slices.IndexFunc(all, func(w Way) bool { return w.ID() == id })
	if i < 0 {
		return Way{}, false
	}
	return all[i], true
}

var onBoard = map[string]Way{
	drivers.TypeLock: {Driver: "lock-relay", Type: drivers.TypeLock, Name: "Relay", About: "a relay on a line of this board", Asks: []Ask{
		{Key: "relay", Text: "line of the relay", Help: "the GPIO line that opens the door, as GPIO17", Of: Lines, Needed: true},
		{Key: "active_low", Text: "does the relay board switch on with a low level?", Help: "most boards with optocouplers do: a wrong answer leaves the door open, see that it is locked before you leave", Switch: true},
		{Key: "sense", Text: "line of the switch at the bolt", Help: "it proves that the bolt followed", Of: Lines},
		{Key: "contact", Text: "line of the contact at the leaf", Help: "it tells whether the door stands open", Of: Lines}}},
	drivers.TypeLight: {Driver: "light-pwm", Type: drivers.TypeLight, Name: "PWM channel", About: "a PWM channel of this board", Asks: []Ask{
		{Key: "channel", Text: "PWM channel", Help: "chip and channel, as pwmchip0/0", Of: Channels, Needed: true}}},
	drivers.TypeFan: {Driver: "fan-pwm", Type: drivers.TypeFan, Name: "PWM channel", About: "a PWM channel of this board", Asks: []Ask{
		{Key: "channel", Text: "PWM channel", Help: "chip and channel, as pwmchip0/1", Of: Channels, Needed: true},
		{Key: "tach", Text: "line of the tachometer", Help: "the wire that proves that the fan turns", Of: Lines}}},
}

var hub = Way{Driver: "o3-mqtt", Type: drivers.TypeO3, Name: "Delta Controls O3", About: "a hub on the network", Asks: []Ask{
	{Key: "address", Text: "address", Help: "HOST:PORT of a Delta Controls O3, as 10.0.0.31:1883", Needed: true, Check: hubAddress},
	{Key: "password", Text: "password", Help: `of its user "user"; the factory's is admin: change it, everybody knows it`, Secret: true}}}

var partsHub = Way{Driver: "o3-parts", Type: drivers.TypeO3, Name: "Parts", About: "a thermometer and what else there is on this board", Asks: []Ask{
	{Key: chipKey, Text: "thermometer", Help: "bus, address and chip of a sensor hub made of parts, as i2c-1/0x48/tmp102", Of: Chips, Needed: true, Check: chipPath},
	{Key: "pir", Text: "line of the infrared sensor", Help: "high while somebody moves", Of: Lines, Needed: true},
	{Key: "buzzer", Text: "line of the buzzer", Help: "high while it sounds", Of: Lines, Needed: true},
	{Key: "ring", Text: "port of the ring of lights", Help: "an SPI port, as spidev0.0", Of: Ports, Needed: true}}}

var usbCamera = Way{Driver: "camera-usb", Type: drivers.TypeCamera, Name: "USB", About: "a camera on USB", Asks: []Ask{
	{Key: "device", Text: "path", Help: "a camera on USB by its path in /dev/v4l/by-id", Of: Cameras, Needed: true}}}

var webCamera = Way{Driver: "camera-http", Type: drivers.TypeCamera, Name: "Network", About: "a camera on the network", Asks: []Ask{
	{Key: "url", Text: "URL", Help: "the URL of a picture of a camera on the network, as http://10.0.0.40/snapshot.jpg", Needed: true, Check: pictureURL},
	{Key: "username", Text: "user", Help: "the name with which the gateway logs in"},
	{Key: "password", Text: "password", Help: "only the gateway reads it, and it is not shown", Secret: true}}}

var display = Way{Driver: "display-page", Type: drivers.TypeDisplay, Name: "Tablet or screen", About: "a browser that has the room's page open"}

func hubAddress(s string) error {
	host, port, err := net.SplitHostPort(s)
	if n, e := strconv.ParseUint(port, 10, 16); err != nil || e != nil || n == 0 || host == "" {
		return meant("want HOST:PORT, as 10.0.0.31:1883", nearHub(s))
	}
	return nil
}

func pictureURL(s string) error {
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
		return meant("want http(s)://", nearPicture(s))
	}
	return nil
}

// Options are those of the driver, as key and value in turn, that answers come to: by
// the keys of their questions.
func (w Way) Options(said map[string]string) (all []string) {
	for _, q := range w.Asks {
		part, field, nested := strings.Cut(q.Key, ".")
		answer := strings.TrimSpace(said[q.Key])
		if answer == "" || nested && said[part+".topic"] == "" {
			continue // not there
		}
		if nested && field == "topic" {
			all = append(all, part+".dialect", w.Dialect)
			if i := slices.IndexFunc(sensorParts, func(s sensorPart) bool { return s.key == part }); w.Dialect == "shelly" {
				all = append(all, part+".component", sensorParts[i].component)
			}
		}
		if c, err := chip(answer); q.Of == Chips && err == nil {
			all = append(all, "bus", c.Bus, "chip", c.Model, "address", fmt.Sprintf("%#x", c.Address))
			continue
		}
		all = append(all, q.Key, answer)
	}
	return all
}
