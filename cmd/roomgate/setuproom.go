package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"roomgate/agent/setup"
	"roomgate/drivers/o3"
)

// askRoom asks for a room and its devices; more is false after the last one.
func (w *wizard) askRoom(a *setup.Answers, first bool) (more bool, err error) {
	ask := "another room (return: no more)"
	if first {
		ask = "first room (return: none)"
	}
	name, err := w.put(question{ask: ask, help: "the name on the door, as Atlas; a room that is configured already is changed"})
	if err != nil || name == "" {
		return false, err
	}
	timezone, err := w.put(question{ask: "time zone", usual: w.options.Timezone, check: zone,
		help: "an IANA name like Europe/Berlin: bookings are shown in it, and its days begin in it"})
	if err != nil {
		return false, err
	}
	s := a.Space(name, timezone)
	for _, device := range []func(*setup.Space) error{w.askLock, w.askLight, w.askFan, w.askHub, w.askCamera, w.askDisplay} {
		if err := device(s); err != nil {
			return false, err
		}
	}
	return true, nil
}

// of asks for one of what the board has. On a machine that is no board every
// name is taken.
func (w *wizard) of(ask, usual, help string, found []string) (string, error) {
	return w.put(question{ask: ask, usual: usual, help: help, choices: found, check: func(s string) error {
		if len(found) > 0 && !slices.Contains(found, s) {
			return fmt.Errorf("there is no free %s here", s)
		}
		return nil
	}})
}

func (w *wizard) askLock(s *setup.Space) error {
	relay, err := w.of("  lock: line of the relay", "", "the GPIO line that opens the door, as GPIO17; return: no lock", w.board.Lines)
	if err != nil || relay == "" {
		return err
	}
	w.took(relay)
	low, err := w.yes("  lock: does the relay board switch on with a low level?", false, "most boards with optocouplers do: a wrong answer leaves the door open, see that it is locked before you leave")
	if err != nil {
		return err
	}
	sense, err := w.of("  lock: line of the switch at the bolt", "", "it proves that the bolt followed; return: none", w.board.Lines)
	if err != nil {
		return err
	}
	w.took(sense)
	contact, err := w.of("  lock: line of the contact at the leaf", "", "it tells whether the door stands open; return: none", w.board.Lines)
	w.took(contact)
	activeLow := ""
	if low {
		activeLow = "true"
	}
	s.Device("lock-relay", "relay", relay, "active_low", activeLow, "sense", sense, "contact", contact)
	return err
}

func (w *wizard) askLight(s *setup.Space) error {
	channel, err := w.of("  light: PWM channel", "", "chip and channel, as pwmchip0/0; return: no light, or one that is on the network", w.board.Channels)
	if err == nil && channel != "" {
		w.board.Channels = without(w.board.Channels, channel)
		s.Device("light-pwm", "channel", channel)
	}
	return err
}

func (w *wizard) askFan(s *setup.Space) error {
	channel, err := w.of("  fan: PWM channel", "", "chip and channel, as pwmchip0/1; return: no fan", w.board.Channels)
	if err != nil || channel == "" {
		return err
	}
	w.board.Channels = without(w.board.Channels, channel)
	tach, err := w.of("  fan: line of the tachometer", "", "the wire that proves that the fan turns; return: none", w.board.Lines)
	w.took(tach)
	s.Device("fan-pwm", "channel", channel, "tach", tach)
	return err
}

func (w *wizard) askHub(s *setup.Space) error {
	var found []string
	for _, h := range w.hubs {
		found = append(found, h.Address)
	}
	usual := ""
	if len(found) == 1 {
		usual = found[0]
	}
	address, err := w.put(question{ask: "  O3 hub: address", usual: usual, choices: found, check: hubAddress,
		help: "HOST:PORT of a Delta Controls O3, as 10.0.0.31:1883, which setup --scan looks for; return: none, or one made of parts"})
	if err != nil {
		return err
	}
	if address == "" {
		return w.askParts(s)
	}
	w.hubs = slices.DeleteFunc(w.hubs, func(h o3.Found) bool { return h.Address == address })
	password, err := w.put(question{ask: "  O3 hub: password", secret: true, help: "of its user \"user\"; the factory's is admin: change it, everybody knows it"})
	if password == "admin" {
		fmt.Fprintln(w.Out, "  WARNING: that is the factory password, which everybody knows: change it at the hub")
	}
	s.Device("o3-mqtt", "address", address, "password", password)
	return err
}

// askParts offers the hub made of parts if a thermometer answers.
func (w *wizard) askParts(s *setup.Space) error {
	if len(w.board.Chips) == 0 || len(w.board.Ports) == 0 {
		return nil
	}
	var found []string
	for _, c := range w.board.Chips {
		found = append(found, fmt.Sprintf("%s/%#x/%s", c.Bus, c.Address, c.Model))
	}
	chip, err := w.of("  sensors: thermometer", "", "bus, address and chip of a sensor hub made of parts; return: none", found)
	if err != nil || chip == "" {
		return err
	}
	w.board.Chips = slices.Delete(w.board.Chips, slices.Index(found, chip), slices.Index(found, chip)+1)
	part := strings.Split(chip, "/")
	options := []string{"bus", part[0], "chip", part[2], "address", part[1]}
	for _, q := range []struct{ key, ask, help string }{
		{"pir", "  sensors: line of the infrared sensor", "high while somebody moves"},
		{"buzzer", "  sensors: line of the buzzer", "high while it sounds"},
		{"ring", "  sensors: port of the ring of lights", "an SPI port, as spidev0.0"},
	} {
		from := w.board.Lines
		if q.key == "ring" {
			from = w.board.Ports
		}
		said, err := w.of(q.ask, "", q.help, from)
		if err != nil {
			return err
		}
		w.took(said)
		options = append(options, q.key, said)
	}
	s.Device("o3-parts", options...)
	return nil
}

func (w *wizard) askCamera(s *setup.Space) error {
	var found []string
	for _, c := range w.board.Cameras {
		found = append(found, c.Path)
	}
	usual := ""
	if len(found) == 1 {
		usual = found[0]
	}
	camera, err := w.put(question{ask: "  camera: path or URL", usual: usual, choices: found, check: cameraPlace,
		help: "a camera on USB by its path in /dev/v4l/by-id, or the URL of a picture of one on the network; return: none"})
	if err != nil || camera == "" {
		return err
	}
	if strings.HasPrefix(camera, "/dev/") {
		w.board.Cameras = slices.DeleteFunc(w.board.Cameras, func(c setup.Video) bool { return c.Path == camera })
		s.Device("camera-usb", "device", camera)
		return nil
	}
	user, err := w.put(question{ask: "  camera: user", help: "the name with which the gateway logs in; return: none"})
	if err != nil {
		return err
	}
	password := ""
	if user != "" {
		password, err = w.put(question{ask: "  camera: password", secret: true, help: "it goes to a file that only the gateway reads"})
	}
	s.Device("camera-http", "url", camera, "username", user, "password", password)
	return err
}

func cameraPlace(s string) error {
	if !strings.HasPrefix(s, "/dev/") && !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
		return errors.New("want /dev/v4l/by-id/... or http(s)://")
	}
	return nil
}

func (w *wizard) askDisplay(s *setup.Space) error {
	yes, err := w.yes("  display at the door?", true, "a browser that shows the room's page; it finds the page at /display/ and the room's id")
	if err == nil && yes {
		s.Device("display-page")
	}
	return err
}

// took takes a line or port from what is free.
func (w *wizard) took(name string) {
	w.board.Lines = without(w.board.Lines, name)
	w.board.Ports = without(w.board.Ports, name)
}

func without(all []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == one })
}
