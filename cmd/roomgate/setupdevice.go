package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"roomgate/agent/setup"
	"roomgate/drivers"
	"roomgate/drivers/camera"
	"roomgate/drivers/o3"
)

// way is how a device can be there, by its id.
func (w *wizard) way(id string) setup.Way {
	way, _ := setup.WayOf(w.options.Kinds, id) // the callers name those that there are
	return way
}

// askFor asks for a lock, a light or a fan, by the driver of the board for it: for something of the board, or for the firmware
// of a device at the room broker, in place of which it adds nothing.
func (w *wizard) askFor(driver string) func(setupRoom) error {
	return func(r setupRoom) error { return w.askOfBoard(r, w.way(driver)) }
}

func (w *wizard) askOfBoard(r setupRoom, way setup.Way) error {
	q, dialects := way.Asks[0], setup.Dialects(w.options.Kinds, way.Type)
	q.Help += ", or the firmware of a " + way.Type + " at the room broker; return: no " + way.Type
	q.Needed = false
	q.Text = orRoomBroker(q.Text, dialects) + r.or(way.Type)
	said, err := w.about(way.Type, q, dialects...)
	switch {
	case err != nil || said == "":
		return err
	case slices.Contains(dialects, said):
		w.uses.take(way.Type, q.Text, q.Of, "")
		return w.askAtRoomBroker(r, w.way(way.Type+"-"+said))
	}
	more, err := w.aboutAll(way.Type, way.Asks[1:])
	r.Device(way.Driver, append([]string{q.Key, said}, more...)...)
	return err
}

// aboutAll asks what is left to ask about a device, and returns its options.
func (w *wizard) aboutAll(what string, asks []setup.Ask) (options []string, err error) {
	for _, q := range asks {
		if !q.Switch && !q.Secret && !q.Needed {
			q.Help += "; return: none"
		}
		said, err := w.about(what, q)
		if err != nil {
			return nil, err
		}
		options = append(options, q.Key, said)
	}
	return options, nil
}

// about asks one question about a device, and takes what is said from the board. Others
// are answers that lead elsewhere.
func (w *wizard) about(what string, q setup.Ask, others ...string) (string, error) {
	ask := "  " + what + ": " + q.Text
	deviceType := what
	if what == subject(drivers.TypeO3) {
		deviceType = drivers.TypeO3
	}
	if q.Switch {
		on, err := w.yes(ask, false, q.Help)
		return map[bool]string{true: "true"}[on], err
	}
	needed := ""
	if q.Needed {
		needed = "want " + q.Help
	}
	said, err := w.put(question{ask: ask, needed: needed, help: q.Help, secret: q.Secret, choices: append(w.board.Free(q.Of), others...), check: func(said string) error {
		switch {
		case slices.Contains(others, said):
			return nil
		case q.Check != nil:
			return q.Check(said)
		case q.Of != 0:
			if err := noAnswer("want its name, or - for none")(said); err != nil {
				return err
			}
			if err := cmp.Or(w.uses.noFirmware(said), w.uses.elsewhere(deviceType, q.Of, said)); err != nil {
				return err
			}
		}
		return w.board.Judge(q.Of, said)
	}})
	if q.Of != 0 && q.Of != setup.Chips && said != "" && !slices.Contains(others, said) {
		w.uses.take(deviceType, what+": "+q.Text, q.Of, said)
	}
	w.board.Take(q.Of, said)
	return said, err
}

func (w *wizard) askHub(r setupRoom) error {
	var found []string
	for _, h := range w.hubs {
		found = append(found, h.Address)
	}
	usual := ""
	if len(found) == 1 {
		usual = found[0]
	}
	way, dialects := w.way("o3-mqtt"), setup.Dialects(w.options.Kinds, drivers.TypeLight) // every one of which has sensors too
	q := way.Asks[0]
	address, err := w.put(question{ask: "  O3 hub: " + orRoomBroker(q.Text, dialects) + r.or(drivers.TypeO3), usual: usual, choices: append(found, dialects...),
		check: func(said string) error {
			if slices.Contains(dialects, said) {
				return nil
			}
			return q.Check(said)
		},
		help: q.Help + ", which setup --scan looks for, or the firmware of sensors at the room broker; return: none, or one made of parts"})
	switch {
	case err != nil:
		return err
	case address == "":
		return w.askParts(r)
	case slices.Contains(dialects, address):
		return w.askSensors(r, w.way("o3-room-"+address))
	}
	w.hubs = slices.DeleteFunc(w.hubs, func(h o3.Found) bool { return h.Address == address })
	password, err := w.about("O3 hub", way.Asks[1])
	if err == nil && password != "" && w.memory.asks() {
		switch answers, refuses := w.refuses(address, o3.FactoryUser, password); {
		case refuses:
			w.say("  WARNING: the hub at %s refuses this password: type back to correct it", address)
		case !answers:
			w.say("  nobody answers at %s: whether the password is right doctor says once the hub is there", address)
		default:
			w.say("  the hub at %s takes this password", address)
		}
	}
	if password == o3.FactoryPassword {
		w.say("  WARNING: that is the factory password, which everybody knows: change it at the hub")
	}
	r.Device(way.Driver, "address", address, "password", password)
	return err
}

// askParts offers the hub made of parts if a thermometer answers.
func (w *wizard) askParts(r setupRoom) error {
	if len(w.board.Chips) == 0 || len(w.board.Ports) == 0 {
		return nil
	}
	way := w.way("o3-parts")
	q := way.Asks[0]
	q.Needed = false
	q.Help += "; return: none"
	chip, err := w.about("sensors", q)
	if err != nil || chip == "" {
		return err
	}
	more, err := w.aboutAll("sensors", way.Asks[1:])
	if err != nil {
		return err
	}
	part := strings.Split(chip, "/")
	r.Device(way.Driver, append([]string{"bus", part[0], "chip", part[2], "address", part[1]}, more...)...)
	return nil
}

func (w *wizard) askCamera(r setupRoom) error {
	found := slices.DeleteFunc(w.board.Free(setup.Cameras), func(path string) bool { return w.uses.elsewhere(drivers.TypeCamera, setup.Cameras, path) != nil })
	usual := ""
	if len(found) == 1 {
		usual = found[0]
	}
	usb, web := w.way("camera-usb"), w.way("camera-http")
	camera, err := w.put(question{ask: "  camera: " + usb.Asks[0].Text + " or " + web.Asks[0].Text + r.or(drivers.TypeCamera), usual: usual, choices: found,
		check: func(said string) error {
			if w.board.Judge(setup.Cameras, said) != nil && web.Asks[0].Check(said) != nil {
				return errors.New("want /dev/v4l/by-id/... or http(s)://")
			}
			return w.uses.elsewhere(drivers.TypeCamera, setup.Cameras, said)
		},
		help: usb.Asks[0].Help + ", or " + web.Asks[0].Help + "; return: none"})
	if err != nil || camera == "" {
		return err
	}
	if w.board.Judge(setup.Cameras, camera) == nil {
		w.board.Take(setup.Cameras, camera)
		w.uses.take(drivers.TypeCamera, "camera: "+usb.Asks[0].Text, setup.Cameras, camera)
		r.Device(usb.Driver, usb.Asks[0].Key, camera)
		return nil
	}
	user, err := w.about("camera", web.Asks[1])
	if err != nil {
		return err
	}
	password := ""
	if user != "" {
		password, err = w.about("camera", web.Asks[2])
	}
	if err == nil && password != "" && w.memory.asks() {
		w.tryCamera(w.fresh(web), camera, user, password)
	}
	r.Device(web.Driver, "url", camera, "username", user, "password", password)
	return err
}

// tryCamera says at once whether a network camera takes a password.
func (w *wizard) tryCamera(fresh drivers.Options, address, user, password string) {
	o := *fresh.(*camera.Options)
	o.URL, o.Username, o.Password = address, user, drivers.Secret(password)
	at := cameraAt(address)
	switch answers, refuses := w.camera(o); {
	case refuses:
		w.say("  WARNING: the camera at %s refuses user and password: type back to correct them", at)
	case !answers:
		w.say("  nobody answers at %s: whether the password is right doctor says once the camera is there", at)
	default:
		w.say("  the camera at %s takes user and password", at)
	}
}

func (w *wizard) askDisplay(r setupRoom) error {
	if has(r.was, drivers.TypeDisplay) {
		return nil
	}
	yes, err := w.yes("  a tablet or screen at the door that shows the room's page?", false,
		"y if a browser will have the page open: a display without one is offline in doctor and at the acceptance; the page's address comes at the end")
	if err == nil && yes {
		r.Device("display-page")
	}
	return err
}
