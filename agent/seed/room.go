package seed

import (
	"fmt"
	"strings"

	"roomgate/agent/setup"
)

// device is a driver with the columns that are its options. It is there if its
// first column is not empty.
type device struct {
	driver  string
	options []string // column and option in turn
}

func devices() []device {
	return []device{
		{"lock-relay", []string{"lock_relay", "relay", "lock_active_low", "active_low", "lock_sense", "sense", "lock_contact", "contact"}},
		{"light-pwm", []string{"light_channel", "channel"}},
		{"fan-pwm", []string{"fan_channel", "channel", "fan_tach", "tach"}},
		{"o3-mqtt", []string{"o3_address", "address", "o3_password", "password"}},
		{"camera-http", []string{"camera_url", "url", "camera_username", "username", "camera_password", "password"}},
		{"camera-usb", []string{"camera_device", "device"}},
	}
}

// room adds the room of a row, if it names one.
func (l *lister) room(of map[string]setup.Cell) {
	if of["room"].Text == "" {
		l.without(of)
		return
	}
	room := of["room"]
	if before, twice := l.rooms[strings.ToLower(room.Text)]; twice {
		l.wrong(room.Line, room.Column, fmt.Sprintf("room %s of this gateway is already in line %d", room.Text, before))
		return
	}
	l.rooms[strings.ToLower(room.Text)] = room.Line
	if of["timezone"].Text == "" {
		place := of["room"]
		if t, there := of["timezone"]; there {
			place = t
		}
		l.wrong(place.Line, place.Column, "timezone is empty: want that of the room, an IANA name like Europe/Berlin")
		return
	}
	s := l.open.SpaceOf(setup.Option{Key: "name", Value: of["room"]}, setup.Option{Key: "timezone", Value: of["timezone"]},
		setup.Option{Key: "capacity", Value: of["capacity"]}, setup.Option{Key: "floor", Value: of["floor"]})
	l.wires(of)
	for _, d := range devices() {
		var options []setup.Option
		for i := 0; i < len(d.options); i += 2 {
			c := of[d.options[i]]
			if d.options[i] == "lock_active_low" {
				c, _ = l.flag(d.options[i], c)
			}
			options = append(options, setup.Option{Key: d.options[i+1], Value: c})
		}
		switch {
		case options[0].Value.Text != "":
			s.DeviceOf(d.driver, options...)
		default:
			l.lonely(d, of)
		}
	}
	if _, on := l.flag("display", of["display"]); on {
		s.DeviceOf("display-page")
	}
}

// wires refuses what no board calls so, and what can be wired once only and is in the list twice.
func (l *lister) wires(of map[string]setup.Cell) {
	for _, column := range []string{"lock_relay", "lock_sense", "lock_contact", "light_channel", "fan_channel", "fan_tach", "camera_device"} {
		c := of[column]
		if c.Text == "" {
			continue
		}
		if why := misnamed(column, c.Text); why != "" {
			l.wrong(c.Line, c.Column, fmt.Sprintf("%s is %q, which %s", column, c.Text, why))
			continue
		}
		if before, twice := l.wired[c.Text]; twice {
			l.wrong(c.Line, c.Column, fmt.Sprintf("%s: %s of this gateway is already in line %d, and only one device can be there", column, c.Text, before))
			continue
		}
		l.wired[c.Text] = c.Line
	}
}

// misnamed says why a cell cannot name what it is wired to, empty: it can.
func misnamed(column, name string) string {
	switch {
	case column == "camera_device":
		return ""
	case strings.HasSuffix(column, "_channel"):
		return setup.MisnamedChannel(name)
	}
	return setup.Misnamed(name)
}

// without refuses what a row says of a room that it does not name.
func (l *lister) without(of map[string]setup.Cell) {
	for _, column := range Columns()[5:] {
		if c := of[column]; c.Text != "" {
			l.wrong(c.Line, c.Column, column+" is there and room is empty: name the room")
			return
		}
	}
}

// lonely refuses a column whose device's first one is empty.
func (l *lister) lonely(d device, of map[string]setup.Cell) {
	for i := 2; i < len(d.options); i += 2 {
		if c := of[d.options[i]]; c.Text != "" {
			l.wrong(c.Line, c.Column, d.options[i]+" is there and "+d.options[0]+" is empty")
		}
	}
}

// flag reads yes or no; a cell that is on says true.
func (l *lister) flag(column string, c setup.Cell) (setup.Cell, bool) {
	switch strings.ToLower(c.Text) {
	case "yes", "y", "true", "x", "1":
		c.Text = "true"
		return c, true
	case "", "no", "n", "false", "0":
	default:
		l.wrong(c.Line, c.Column, column+" is neither yes nor no")
	}
	c.Text = ""
	return c, false
}
