package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"roomgate/agent/config"
	"roomgate/agent/health"
	"roomgate/agent/setup"
	"roomgate/drivers"
	"roomgate/drivers/mqttdevice"
)

// roomBrokerListen is where devices in the building find the room broker.
const roomBrokerListen = "0.0.0.0:1883"

// roomUser is a user of the room broker that setup makes, for a device or its bridge.
type roomUser struct{ name, password string }

// orRoomBroker is a question for something of the board, or for the room broker.
func orRoomBroker(ask string, dialects []string) string {
	return ask + ", or " + strings.Join(dialects[:len(dialects)-1], ", ") + " or " + dialects[len(dialects)-1]
}

// askAtRoomBroker asks for a device at the room broker, and makes its user there.
func (w *wizard) askAtRoomBroker(r setupRoom, way setup.Way) error {
	o := w.fresh(way).(*mqttdevice.Options)
	places := map[string]*string{"topic": &o.Topic, "name": &o.Name, "component": &o.Component}
	for _, q := range way.Asks {
		if !q.Needed {
			q.Help += "; return: the first that it has"
		}
		if _, err := w.field(way.Type, q, places[q.Key], o); err != nil {
			return err
		}
	}
	r.Device(way.Driver, "topic", o.Topic, "name", o.Name, "component", o.Component)
	w.roomUsers(setup.DeviceID(r.name, way.Type), o.Accounts())
	return nil
}

// fresh are the options of a way as its driver begins with them.
func (w *wizard) fresh(way setup.Way) drivers.Options {
	i := slices.IndexFunc(w.options.Kinds, func(k drivers.Kind) bool { return k.Name == way.Driver })
	return w.options.Kinds[i].Options()
}

// field asks for an option of a device, as long as its driver refuses it.
func (w *wizard) field(what string, a setup.Ask, place *string, o drivers.Options) (string, error) {
	q := question{ask: "  " + what + ": " + a.Text, help: a.Help, check: func(s string) error {
		*place = s
		var wrong *drivers.FieldError
		if err := o.Check(); errors.As(err, &wrong) && wrong.Field == a.Key {
			return errors.New(wrong.Problem)
		}
		return nil
	}}
	if a.Needed {
		q.needed = "want " + a.Help
	}
	said, err := w.put(q)
	*place = said
	return said, err
}

// askSensors makes an o3-sensor of a thermometer and a motion sensor that speak the
// same dialect.
func (w *wizard) askSensors(r setupRoom, way setup.Way) error {
	o := w.fresh(way).(*mqttdevice.Sensors)
	parts := map[string]*mqttdevice.Source{drivers.SubTemperature: &o.Temperature, drivers.SubOccupancy: &o.Occupancy}
	said := map[string]string{}
	for _, q := range way.Asks {
		part, field, _ := strings.Cut(q.Key, ".")
		at := parts[part]
		if field == "topic" {
			at.Dialect, q.Help = way.Dialect, q.Help+"; return: there is none"
		} else if at.Topic == "" {
			continue // it is not there
		}
		place := map[string]*string{"topic": &at.Topic, "name": &at.Name}[field]
		answer, err := w.field("sensors", q, place, o)
		if err != nil {
			return err
		}
		if at.Topic == "" {
			*at = mqttdevice.Source{}
		}
		said[q.Key] = answer
	}
	options := way.Options(said)
	if len(options) == 0 {
		return nil
	}
	r.Device(way.Driver, options...)
	w.roomUsers(setup.DeviceID(r.name, drivers.TypeO3), o.Accounts())
	return nil
}

// roomUsers makes the users that speak for a device, unless they are there.
func (w *wizard) roomUsers(device string, accounts []drivers.Account) {
	for _, account := range accounts {
		name := setup.RoomUser(account, device)
		known := slices.ContainsFunc(w.known.Broker.Users, func(u config.User) bool { return strings.EqualFold(u.Name, name) }) ||
			slices.ContainsFunc(w.users, func(u roomUser) bool { return strings.EqualFold(u.name, name) })
		if known {
			continue
		}
		if w.made[name] == "" {
			w.made[name] = setup.Password()
		}
		w.users = append(w.users, roomUser{name, w.made[name]})
		w.say("  room broker: user %s will be made for it", name)
	}
}

// listen opens the room broker to the building if somebody is to log in there.
func (w *wizard) listen(a *setup.Answers) {
	if len(w.users) > 0 && w.known.Broker.Listen == "" {
		a.Set("broker.listen", roomBrokerListen)
	}
	for _, u := range w.users {
		a.BrokerUser(u.name, u.password)
	}
}

// handOver tells what somebody needs at the devices: who they are at the room broker,
// and the page of a display.
func (w *wizard) handOver(p *setup.Plan) {
	n := health.NetworkOf(p.Config)
	if len(w.users) > 0 {
		at := p.Config.Broker.Listen
		if n.Broker != nil {
			at = n.Broker.Nearest()
		}
		scheme := map[bool]string{true: "mqtts", false: "mqtt"}[p.Config.Broker.TLS.On()]
		fmt.Fprintf(w.Out, "give these to the devices, at %s://%s; the passwords are shown only now:\n", scheme, at)
		for _, u := range w.users {
			fmt.Fprintf(w.Out, "  user %s, password %s\n", u.name, u.password)
		}
	}
	for _, s := range p.Config.Spaces {
		before, _ := w.knownRoom(s.Name)
		if has(&s, drivers.TypeDisplay) && !has(before, drivers.TypeDisplay) {
			page := cmp.Or(n.Page("/display/"+s.ID), "/display/"+s.ID+" of this gateway")
			fmt.Fprintf(w.Out, "display of %s: open %s there, and pair it: %s\n", s.Name, page, asCalled("roomgate space pair "+setup.ShellWord(s.Name)+folderFlag(p.Config.Data)))
		}
	}
}
