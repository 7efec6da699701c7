package console

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/setup"
	"roomgate/agent/site"
	"roomgate/drivers"
)

// setUp is where meeting spaces and devices are added, as roomgate setup does at a
// terminal: with the same questions and the same checks.
func setUp() Section {
	return Section{Name: "setup", Title: "Meeting spaces and devices", Hidden: true, Least: System, Parts: []string{"new", "spaces"}, View: viewSetUp,
		Panels: map[string]func(*Look) (any, error){"ways": viewWays, "device": viewNewDevice}}
}

// SetUp is what the page shows.
type SetUp struct {
	New    Form
	Spaces []SetUpSpace
}

// SetUpSpace is a meeting space with its devices, and what to do next.
type SetUpSpace struct {
	ID, Name string
	Acts     []Button
	Devices  Table
}

const setupPath = "POST /console/setup/"

func viewSetUp(l *Look) (any, time.Time, error) {
	spaces, devices, err := l.o.Agent.Site.Origins(context.Background()) // nobody holds the turn for long
	if err != nil {
		return nil, time.Time{}, err
	}
	v := SetUp{New: Form{ID: "space-new", Title: "Add a meeting space", Send: setupPath + "space", Done: "Added. Give it its devices.", Button: "Add the meeting space", Fields: []Input{
		{ID: "space-name", Name: "name", Label: "Name", Hint: "The one on the door, as Atlas.", Required: true, Max: 100},
		{ID: "space-zone", Name: "timezone", Label: "Time zone", Hint: "An IANA name like Europe/Berlin: bookings are shown in it, and its days begin in it.", Value: l.usualZone(), Required: true, Max: 64}}}}
	for _, s := range l.spaces() {
		one := SetUpSpace{ID: s.ID, Name: s.Name, Devices: Table{Label: "Devices of " + s.Name, Head: []string{"Device", "Driver", "From", "State"}, None: "No devices yet."}}
		one.Acts = []Button{{ID: "add-" + s.ID, Label: "Add a device", Open: "panel/ways?space=" + s.ID}}
		if len(s.Devices) > 0 {
			one.Acts = append(one.Acts, Button{ID: "accept-" + s.ID, Label: "Identify and accept", To: "/console/accept?id=" + s.ID})
		}
		if spaces[s.ID] == site.FromHere {
			one.Acts = append(one.Acts, Button{ID: "remove-" + s.ID, Label: "Remove", Send: setupPath + "remove", Body: map[string]string{"space": s.ID}, Sure: "Remove " + s.Name + " and its devices?", Done: "Removed.", Danger: true})
		}
		for _, d := range s.Devices {
			row := Row{Cells: []string{typeWords[d.Type], d.Driver, originWords[devices[d.ID]], "enabled"}}
			if !d.Live().Enabled {
				row.Cells[3] = "disabled"
			}
			if slices.ContainsFunc(d.Readings(), device.Reading.Offline) {
				row.Cells[3], row.Bad = "offline", true
			}
			if devices[d.ID] == site.FromHere {
				row.Acts = []Button{{ID: "remove-" + d.ID, Label: "Remove", Send: "DELETE /v2.0/devices/" + d.ID, Sure: "Remove the " + strings.ToLower(typeWords[d.Type]) + " of " + s.Name + "?", Done: "Removed.", Danger: true}}
			}
			one.Devices.Rows = append(one.Devices.Rows, row)
		}
		v.Spaces = append(v.Spaces, one)
	}
	return v, time.Now().Add(proofEvery), nil
}

var originWords = map[site.Origin]string{site.FromFile: "the configuration file", site.FromHere: "added here", site.FromCloud: "the cloud"}

// usualZone is that of the last meeting space; one that nobody set is asked for.
func (l *Look) usualZone() string {
	if all := l.spaces(); len(all) > 0 {
		return all[len(all)-1].Config.Timezone
	}
	return ""
}

// Ways is the dialog in which somebody says what a device is.
type Ways struct {
	Space string
	Types []WaysOf
}

// WaysOf are those of a type of device.
type WaysOf struct {
	Title string
	Acts  []Button
}

func viewWays(l *Look) (any, error) {
	s, err := l.o.Agent.Site.Space(l.Query.Get("space"))
	if err != nil {
		return nil, err
	}
	v := Ways{Space: s.Name}
	for _, w := range setup.Ways(l.o.Machine.Kinds) {
		if s.OfType(w.Type) != nil {
			continue // a space has one of each type
		}
		if n := len(v.Types); n == 0 || v.Types[n-1].Title != typeWords[w.Type] {
			v.Types = append(v.Types, WaysOf{Title: typeWords[w.Type]})
		}
		of := &v.Types[len(v.Types)-1]
		of.Acts = append(of.Acts, Button{ID: "way-" + w.ID(), Label: w.Name, Open: "panel/device?space=" + s.ID + "&way=" + w.ID()})
	}
	return v, nil
}

// NewDevice is the dialog with the questions about a device.
type NewDevice struct {
	Title, Space, Way string
	Form              Form
	Scans             bool // it can be looked for
	Scanned           bool // it was
	Found             int
}

func viewNewDevice(l *Look) (any, error) {
	s, err := l.o.Agent.Site.Space(l.Query.Get("space"))
	w, known := setup.WayOf(l.o.Machine.Kinds, l.Query.Get("way"))
	if err != nil || !known {
		return nil, problem.New(problem.NotFound, "way", "is not a device of a meeting space here: load the page again")
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	board := l.o.Machine.Board(ctx)
	v := NewDevice{Title: typeWords[w.Type] + " of " + s.Name, Space: s.ID, Way: w.ID(),
		Form: Form{ID: "device-form", Note: w.Name + ": " + w.About + ".", Send: setupPath + "device", Button: "Add it"}}
	var hubs []string
	if v.Scans = w.Driver == "o3-mqtt" && l.o.Machine.Hubs != nil; v.Scans && l.Query.Get("scan") != "" {
		hubs = l.o.Machine.Hubs(ctx)
		v.Scanned, v.Found = true, len(hubs)
	}
	v.Form.Fields = []Input{{Name: "space", Type: "hidden", Value: s.ID}, {Name: "way", Type: "hidden", Value: w.ID()}}
	for _, q := range w.Asks {
		free := board.Free(q.Of)
		if q.Key == "address" {
			free = hubs
		}
		v.Form.Fields = append(v.Form.Fields, inputOf(q, free))
	}
	return v, nil
}

// lookTime bounds a look at the board and for hubs.
const lookTime = 25 * time.Second

// inputOf is a question as a field. It offers what the board has.
func inputOf(q setup.Ask, free []string) Input {
	f := Input{ID: "ask-" + strings.ReplaceAll(q.Key, ".", "-"), Name: "options." + q.Key, Label: capital(q.Text), Required: q.Needed, Max: 200}
	if q.Help != "" {
		f.Hint = capital(q.Help) + "."
	}
	switch {
	case q.Switch:
		f.Type = "select"
		f.Choices = []Choice{{"", "no", true}, {"true", "yes", false}}
	case q.Secret:
		f.Type = "password"
	case len(free) > 0:
		f.Type = "select"
		if !q.Needed {
			f.Choices = []Choice{{"", "none", true}}
		}
		for _, name := range free {
			f.Choices = append(f.Choices, Choice{name, name, false})
		}
	}
	return f
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// AddSpace adds a meeting space.
func (c *Console) AddSpace(ctx context.Context, name, timezone, by string) error {
	if _, err := time.LoadLocation(timezone); err != nil || timezone == "" || timezone == "Local" {
		return problem.New(problem.Invalid, "timezone", "is not known: want an IANA name like Europe/Berlin")
	}
	name = strings.TrimSpace(name)
	if name == "" {
		return problem.New(problem.Invalid, "name", "is missing: want the one on the door")
	}
	for _, s := range c.o.Agent.Site.Spaces() {
		if !strings.EqualFold(s.Name, name) && setup.SameIDs(s.Name, name) {
			return problem.New(problem.Invalid, "name", "would be one with %s in the ids of their devices, as %s: want another name", s.Name, setup.DeviceID(name, drivers.TypeLock))
		}
	}
	document, err := json.Marshal(map[string]string{"name": name, "timezone": timezone})
	if err != nil {
		return err
	}
	return c.o.Agent.Site.AddSpace(ctx, setup.SpaceID(c.o.Agent.Health.Identity().ID, name), document, by)
}

// Added is the dialog about a device that was added: what its other end needs, and the
// next step.
type Added struct {
	Title, SpaceID, Type string
	Display              bool
	User                 *site.RoomUser // of the room broker, whose password is shown only now
	At                   string         // the room broker
	Topics               string
	Spoken               bool // for, by a user of the room broker that was there
}

// AddDevice adds a device by the answers to the questions of a way, and makes the dialog
// about it.
func (c *Console) AddDevice(ctx context.Context, spaceID, way string, said map[string]string, by string) ([]byte, error) {
	s, err := c.o.Agent.Site.Space(spaceID)
	if err != nil {
		return nil, err
	}
	w, known := setup.WayOf(c.o.Machine.Kinds, way)
	if !known {
		return nil, problem.New(problem.Invalid, "way", "is not known: load the page again")
	}
	document, err := w.Document(said, spaceID, c.o.Machine.Board(ctx))
	if err != nil {
		return nil, err
	}
	d := site.NewDevice{SpaceID: spaceID, ID: setup.DeviceID(s.Name, w.Type), Document: document, Judge: c.judge}
	d.Voice = func(a drivers.Account) site.RoomUser {
		return site.RoomUser{Name: setup.RoomUser(a, d.ID), Password: setup.Password()}
	}
	_, user, err := c.o.Agent.Site.Add(ctx, d, by)
	if err != nil {
		return nil, err
	}
	v := Added{Title: typeWords[w.Type] + " of " + s.Name, SpaceID: spaceID, Type: w.Type, Display: w.Type == drivers.TypeDisplay, User: user, Spoken: user == nil && w.Dialect != ""}
	if user != nil {
		if n := c.o.Agent.Health.Network(); n.Broker != nil {
			v.At = n.Broker.Nearest()
		}
		v.Topics = c.o.Agent.Site.RoomAccess().Topics(user.Name).String()
	}
	return Render("panel-added", v)
}

// judge refuses a building that cannot work.
func (c *Console) judge(ctx context.Context, spaces []*site.Space) error {
	if c.o.Machine.Judge == nil {
		return nil
	}
	var all []config.Space
	for _, s := range spaces {
		all = append(all, s.Config)
	}
	return c.o.Machine.Judge(ctx, all)
}
