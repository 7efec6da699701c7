package console

import (
	"slices"
	"time"

	"roomgate/agent/access"
)

// manage leads to the pages of those who manage the building.
func manage() Section {
	return Section{Name: "manage", Title: "Manage", Least: Admin, Parts: []string{"pages"}, View: viewManage}
}

// Manage is what it shows.
type Manage struct{ Pages []managedPage }

// managedPage is a section with what it is for.
type managedPage struct {
	Section
	About string
}

// managed are the sections that it leads to.
func managed() []managedPage {
	return []managedPage{
		{setUp(), "Add a meeting space and its devices, and see what to do next."},
		{displays(), "Pair a screen with its room, see which ones are there, end one."},
		{users(), "Who may sign in, and what as."},
		{keys(), "For programs: of the building, or of an organization."},
		{organizations(), "Who owns meeting spaces, keys and webhooks."},
		{webhooks(), "Who is notified by HTTP, and what was delivered."},
		{rules(), "What the building does by itself, and why."},
		{codes(), "For the keypads at the doors."},
		{changes(), "Who changed what, and when."},
		{backups(), "A sealed copy of everything, to be kept elsewhere."},
		{updates(), "Which release runs, and how another one is installed."},
		{supports(), "For somebody who helps from afar, without secrets and names."},
	}
}

func viewManage(l *Look) (any, time.Time, error) {
	v := Manage{}
	for _, m := range managed() {
		if l.Role() >= m.Least {
			v.Pages = append(v.Pages, m)
		}
	}
	return v, time.Time{}, nil
}

// Table is a list with what may be done to each of its rows.
type Table struct {
	Label string // what it lists
	Head  []string
	Rows  []Row
	None  string // what is said of an empty one
}

// Acts says whether something may be done to any of its rows.
func (t Table) Acts() bool {
	return slices.ContainsFunc(t.Rows, func(r Row) bool { return len(r.Acts) > 0 })
}

// Row is a line of a table.
type Row struct {
	Cells []string
	Fold  *EventRow // whose details the last cell unfolds; nil: none
	Bad   bool
	Acts  []Button
}

// Button asks the gateway for something, or leads to a dialog or a page.
type Button struct {
	ID, Label string
	Send      string // "POST /v2.0/rules"
	Body      any
	Sure      string // what is asked before; empty: nothing
	Done      string
	Show      string // what of the answer is shown once: "API key=secret"
	Open      string // the dialog; it takes the place of Send
	Post      string // what the console itself answers with a dialog
	To        string // the page
	Danger    bool
}

// Form makes or changes something.
type Form struct {
	ID, Title, Note  string
	Send, Done, Show string
	Button           string
	Fields           []Input
}

// Input is a field of a form.
type Input struct {
	ID, Name, Label, Hint string
	Type                  string // of an input; or select, checks, text (of several lines) or yes
	Choices               []Choice
	Kind                  string // how its value is sent, as the script reads it
	Value                 string
	Required              bool
	Max                   int
}

// Choose is the form by which a page is told what it is about.
type Choose struct {
	Name, Label string
	Choices     []Choice
}

// chosen is the choice that the query names, the first if it names none.
func (l *Look) chosen(name string, all []Choice) (value string) {
	asked := l.Query.Get(name)
	at := max(slices.IndexFunc(all, func(c Choice) bool { return c.Value == asked }), 0)
	if at < len(all) {
		all[at].Chosen = true
		value = all[at].Value
	}
	return value
}

// organizations are those that who looks sees.
func (l *Look) organizations() ([]access.Organization, error) {
	all, err := l.o.Agent.Access.Organizations()
	return slices.DeleteFunc(all, func(o access.Organization) bool { return !l.Who.Sees(o.ID) }), err
}

// organizationChoices are they as a field, and their names by id.
func (l *Look) organizationChoices() (all []Choice, names map[string]string, err error) {
	found, err := l.organizations()
	names = map[string]string{}
	for _, o := range found {
		all = append(all, Choice{o.ID, o.Name, false})
		names[o.ID] = o.Name
	}
	return all, names, err
}

// spaceChoices are the meeting spaces that who looks sees, and their names by id.
func (l *Look) spaceChoices() (all []Choice, names map[string]string) {
	names = map[string]string{}
	for _, s := range l.spaces() {
		all = append(all, Choice{s.ID, s.Name, false})
		names[s.ID] = s.Name
	}
	return all, names
}

// expiries are ends that forms offer: midnights, so that a page stays as it is for a day.
func (l *Look) expiries() []Choice {
	now := l.o.Agent.Now().In(l.zone())
	all := []Choice{{"", "never", true}}
	for _, x := range []struct {
		days int
		text string
	}{{1, "tonight"}, {7, "in a week"}, {30, "in 30 days"}, {90, "in 90 days"}, {365, "in a year"}} {
		all = append(all, Choice{midnight(now, x.days).Format(time.RFC3339), x.text, false})
	}
	return all
}

// date is the day of a time; "-": there is none.
func (l *Look) date(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(l.zone()).Format("2 Jan 2006")
}

// moment is a time of now, "-": there is none.
func (l *Look) moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return clockText(t, l.o.Agent.Now().In(l.zone()))
}
