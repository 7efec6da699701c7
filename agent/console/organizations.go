package console

import (
	"time"

	"roomgate/agent/problem"
)

// organizations own meeting spaces, keys and webhooks.
func organizations() Section {
	return Section{Name: "organizations", Title: "Organizations", Hidden: true, Least: System, Parts: []string{"list", "new"}, View: viewOrganizations,
		Panels: map[string]func(*Look) (any, error){"organization": viewOrganization}}
}

// Organizations is what the page shows.
type Organizations struct {
	List Table
	New  Form
}

const organizationsPath = "/v2.0/organizations"

func viewOrganizations(l *Look) (any, time.Time, error) {
	all, err := l.organizations()
	spaces := map[string][]string{}
	for _, s := range l.spaces() {
		if of, err := l.o.Agent.Site.OrganizationOf(s.ID); err == nil {
			spaces[of] = append(spaces[of], s.Name)
		}
	}
	t := Table{Label: "Organizations", Head: []string{"Name", "Id", "Meeting spaces", "Since"}, None: "No organizations yet."}
	for _, o := range all {
		t.Rows = append(t.Rows, Row{Cells: []string{o.Name, o.ID, joined(", ", spaces[o.ID]...), l.date(o.CreatedAt)}, Acts: []Button{
			{ID: "rename-" + o.ID, Label: "Rename", Open: "panel/organization?organization=" + o.ID},
			{ID: "keys-" + o.ID, Label: "Keys", To: "/console/keys?of=" + o.ID},
			{ID: "delete-" + o.ID, Label: "Delete", Send: "DELETE " + organizationsPath + "/" + o.ID, Sure: "Delete " + o.Name + "?", Done: "Deleted.", Danger: true}}})
	}
	return Organizations{t, Form{ID: "organization-new", Title: "Add an organization", Send: "POST " + organizationsPath, Done: "Added.", Button: "Add",
		Fields: []Input{{ID: "organization-name", Name: "name", Label: "Name", Required: true, Max: 100}}}}, time.Time{}, err
}

func viewOrganization(l *Look) (any, error) {
	all, err := l.organizations()
	for _, o := range all {
		if o.ID == l.Query.Get("organization") {
			return FormPanel{o.Name, Form{ID: "organization-rename", Send: "PATCH " + organizationsPath + "/" + o.ID, Done: "Renamed.", Button: "Rename",
				Fields: []Input{{ID: "organization-renamed", Name: "name", Label: "Name", Value: o.Name, Required: true, Max: 100}}}}, nil
		}
	}
	if err == nil {
		err = problem.New(problem.NotFound, "organization", "is not an organization of this gateway")
	}
	return nil, err
}
