package console

import (
	"cmp"
	"html/template"
	"time"

	"roomgate/agent/edge"
	"roomgate/agent/web"
)

// displays are the screens at the doors, and boards.
func displays() Section {
	return Section{Name: "displays", Title: "Displays", Hidden: true, Least: Admin, Parts: []string{"pair", "list"}, View: viewDisplays}
}

// Displays is what the page shows.
type Displays struct {
	Pair Table
	List *Table // nil: it is of the building, and not for who looks
}

func viewDisplays(l *Look) (any, time.Time, error) {
	_, names := l.spaceChoices()
	paired := map[string]int{}
	v := Displays{Pair: Table{Label: "Meeting spaces", Head: []string{"Meeting space"}, None: "There are no meeting spaces."}}
	all := l.o.Agent.Edges.List()
	for _, d := range all {
		paired[d.SpaceID]++
	}
	for _, s := range l.spaces() {
		if only := l.Query.Get("id"); only == "" || only == s.ID {
			v.Pair.Rows = append(v.Pair.Rows, Row{Cells: []string{s.Name}, Acts: []Button{
				{ID: "pair-" + s.ID, Label: "Pair a screen", Post: "pair/" + s.ID}, {ID: "door-" + s.ID, Label: "The page at its door", To: "/display/" + s.ID}}})
		}
	}
	if l.Role() == System {
		v.List = &Table{Label: "Paired displays and boards", Head: []string{"Meeting space", "Kind", "Name", "Last seen", "Address", "Since"}, None: "None is paired yet."}
		for _, d := range all {
			v.List.Rows = append(v.List.Rows, l.edgeRow(d, names))
		}
	}
	return v, time.Now().Add(deliveryPace), nil
}

func (l *Look) edgeRow(d edge.Device, names map[string]string) Row {
	seen, ago := "not since the start", time.Since(d.LastSeen)
	switch {
	case d.LastSeen.IsZero():
	case ago < time.Minute:
		seen = "now"
	default:
		seen = web.Age(ago.Truncate(10*time.Second)) + " ago"
	}
	return Row{Cells: []string{cmp.Or(names[d.SpaceID], "a space that is gone"), d.Kind, d.Name, seen, cmp.Or(d.Address, "-"), l.date(d.Registered)}, Bad: ago > time.Minute,
		Acts: []Button{{ID: "unpair-" + d.ID, Label: "Unpair", Send: "DELETE /v2.0/edge-devices/" + d.ID, Sure: "End it? It asks for a code again.", Done: "Ended.", Danger: true}}}
}

// Pairing is the dialog with a pairing code, which is shown once.
type Pairing struct {
	Space, Code, Link string
	QR                template.HTML
	Minutes           int
}

// Pairing makes the dialog that shows a pairing code of a meeting space, with the link
// to its page.
func (c *Console) Pairing(space, code, link string, life time.Duration) ([]byte, error) {
	p, err := newPairing(space, code, link, life)
	if err != nil {
		return nil, err
	}
	return Render("panel-pairing", p)
}

func newPairing(space, code, link string, life time.Duration) (Pairing, error) {
	drawn, err := web.Drawn(link, "QR code with the link that pairs a screen")
	return Pairing{space, code, link, drawn, int(life.Minutes())}, err
}
