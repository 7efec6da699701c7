package console

import (
	"time"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/problem"
)

// keys are those by which programs come in.
func keys() Section {
	return Section{Name: "keys", Title: "API keys", Hidden: true, Least: Admin, Parts: []string{"of", "list", "new"}, View: viewKeys}
}

// Keys is what the page shows. A secret is not in it: the answer to who makes one has it.
type Keys struct {
	Of   Choose
	List Table
	New  Form
}

func viewKeys(l *Look) (any, time.Time, error) {
	all, _, err := l.organizationChoices()
	if err != nil {
		return nil, time.Time{}, err
	}
	if l.Role() == System {
		all = append([]Choice{{"", "The building, with every permission", false}}, all...)
	}
	v := Keys{Of: Choose{"of", "Keys of", all}}
	of := l.chosen("of", all)
	path, found := "/v2.0/gateway/keys", []access.Key(nil)
	switch {
	case of != "":
		path = "/v2.0/organizations/" + of + "/api-keys"
		found, err = l.o.Agent.Access.OrgKeys(of)
	case l.Role() == System:
		found = l.o.Agent.Access.Keys()
	default:
		err = problem.New(problem.NotFound, "of", "is not an organization of this gateway")
	}
	v.List = l.keyTable(path, found)
	v.New = Form{ID: "key-new", Title: "Make a key", Send: "POST " + path, Done: "The key is shown only now", Show: "API key=secret, Id=id", Button: "Make the key",
		Note: "A program sends it as X-API-Key, or as X-Org-Api-Key if it is an organization’s.",
		Fields: []Input{{ID: "key-name", Name: "name", Label: "Name", Required: true, Max: 100},
			{ID: "key-end", Name: "expires_at", Label: "Ends", Type: "select", Choices: l.expiries()}}}
	if of != "" {
		permissions := Input{Name: "permissions", Label: "It may", Type: "checks"}
		for _, p := range auth.All.Names() {
			permissions.Choices = append(permissions.Choices, Choice{p, p, false})
		}
		v.New.Fields = append(v.New.Fields, permissions)
	}
	return v, nextMinute(l.o.Agent.Now()), err
}

func (l *Look) keyTable(path string, all []access.Key) Table {
	t := Table{Label: "API keys", Head: []string{"Name", "Begins with", "May", "Ends", "Last used", "State"}, None: "No keys yet."}
	for _, k := range all {
		state, may := "good", "everything"
		if k.Permissions != 0 {
			may = joined(", ", k.Permissions.Names()...)
		}
		switch {
		case k.Revoked:
			state = "revoked"
		case !k.Expires.IsZero() && k.Expires.Before(l.o.Agent.Now()):
			state = "ended"
		}
		row := Row{Cells: []string{k.Name, prefixText(k.Prefix), may, l.date(k.Expires), l.moment(k.LastUsed), state}, Bad: state != "good"}
		if !k.Revoked {
			row.Acts = []Button{{ID: "revoke-" + k.ID, Label: "Revoke", Send: "DELETE " + path + "/" + k.ID, Sure: "Revoke " + k.Name + "?", Done: "Revoked.", Danger: true}}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// prefixText is how a key begins; the one of the environment does not say.
func prefixText(prefix string) string {
	if prefix == "" {
		return "-"
	}
	return prefix + "…"
}
