package console

import (
	"time"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/problem"
)

// users are the people who may sign in.
func users() Section {
	return Section{Name: "users", Title: "Users", Hidden: true, Least: Admin, Parts: []string{"list", "new"}, View: viewUsers,
		Panels: map[string]func(*Look) (any, error){"user": viewUser}}
}

// Users is what the page shows.
type Users struct {
	List Table
	New  Form
}

// FormPanel is a dialog that is a form.
type FormPanel struct {
	Title string
	Form  Form
}

func roleInput(chosen auth.Role) Input {
	f := Input{ID: "user-role", Name: "role", Label: "Role", Type: "select",
		Hint: "A member books rooms, an operator also commands devices, an admin manages, a display is the page at a door."}
	for _, r := range auth.Roles() {
		f.Choices = append(f.Choices, Choice{r, r, r == string(chosen)})
	}
	return f
}

func viewUsers(l *Look) (any, time.Time, error) {
	all, names, err := l.organizationChoices()
	if err != nil {
		return nil, time.Time{}, err
	}
	t := Table{Label: "Users", Head: []string{"Name", "E-mail", "Role", "Organization", "State"}, None: "Nobody yet."}
	for _, u := range l.o.Agent.Access.Users() {
		if !l.Who.Sees(u.OrganizationID) {
			continue
		}
		of := names[u.OrganizationID]
		if u.OrganizationID == "" {
			of = "the building"
		}
		state := "enabled"
		if !u.Enabled {
			state = "disabled"
		}
		if !u.Made {
			state += ", by the configuration"
		}
		t.Rows = append(t.Rows, Row{Cells: []string{u.Name, u.Email, string(u.Role), of, state}, Bad: !u.Enabled, Acts: userActs(u)})
	}
	v := Users{List: t, New: Form{ID: "user-new", Title: "Add a user", Send: "POST /v2.0/users", Done: "Added.", Button: "Add", Fields: []Input{
		{ID: "new-email", Name: "email", Label: "E-mail address", Type: "email", Required: true},
		{ID: "new-name", Name: "name", Label: "Name", Max: 100}, roleInput(auth.RoleMember)}}}
	if l.Role() == System {
		all = append([]Choice{{"", "the building", true}}, all...)
		v.New.Fields = append(v.New.Fields, Input{ID: "new-of", Name: "organization_id", Label: "Sees what is of", Type: "select", Choices: all})
	}
	return v, time.Time{}, nil
}

func userActs(u access.User) (acts []Button) {
	path := "/v2.0/users/" + u.ID
	if u.Made {
		acts = append(acts, Button{ID: "change-" + u.ID, Label: "Change", Open: "panel/user?user=" + u.ID})
	}
	if u.Enabled {
		acts = append(acts, Button{ID: "out-" + u.ID, Label: "Sign out", Send: "POST " + path + "/sign-out", Body: struct{}{}, Sure: "Sign " + u.Email + " out?", Done: "Signed out."},
			Button{ID: "disable-" + u.ID, Label: "Disable", Send: "POST " + path + "/disable", Body: struct{}{}, Sure: "Keep " + u.Email + " out?", Done: "Disabled.", Danger: true})
	} else {
		acts = append(acts, Button{ID: "enable-" + u.ID, Label: "Enable", Send: "POST " + path + "/enable", Body: struct{}{}, Done: "Enabled."})
	}
	if u.Made {
		acts = append(acts, Button{ID: "delete-" + u.ID, Label: "Delete", Send: "DELETE " + path, Sure: "Delete " + u.Email + "?", Done: "Deleted.", Danger: true})
	}
	return acts
}

func viewUser(l *Look) (any, error) {
	u := l.o.Agent.Access.User(l.Query.Get("user"))
	if u == nil || !l.Who.Sees(u.OrganizationID) {
		return nil, problem.New(problem.NotFound, "user", "is not a user of this gateway")
	}
	return FormPanel{u.Email, Form{ID: "user-change", Send: "PATCH /v2.0/users/" + u.ID, Done: "Changed.", Button: "Change", Fields: []Input{
		{ID: "user-name", Name: "name", Label: "Name", Value: u.Name, Max: 100}, roleInput(u.Role)}}}, nil
}
