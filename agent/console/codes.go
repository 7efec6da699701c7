package console

import (
	"fmt"
	"time"

	"roomgate/agent/problem"
	"roomgate/agent/web"
	"roomgate/drivers"
)

// codes open doors at their keypads.
func codes() Section {
	return Section{Name: "codes", Title: "Unlock codes", Hidden: true, Least: Admin, Parts: []string{"of", "list", "new"}, View: viewCodes}
}

// Codes is what the page shows, without any digits.
type Codes struct {
	Of     *Choose
	Locked string // the keypad takes no codes
	Acts   []Button
	List   Table
	New    *Form
}

func viewCodes(l *Look) (any, time.Time, error) {
	v, all := Codes{List: Table{None: "No meeting space has a lock with a keypad."}}, []Choice(nil)
	for _, s := range l.spaces() {
		if s.OfType(drivers.TypeLock) != nil {
			all = append(all, Choice{s.ID, s.Name, false})
		}
	}
	of := l.chosen("space", all)
	if asked := l.Query.Get("space"); asked != "" && asked != of {
		return nil, time.Time{}, problem.New(problem.NotFound, "space", "is not a meeting space with a lock")
	}
	if of == "" {
		return v, time.Time{}, nil
	}
	path := "/v2.0/meeting-spaces/" + of + "/unlock-codes"
	v.Of = &Choose{"space", "Codes of", all}
	found, err := l.o.Agent.Unlock.List(of)
	if err != nil {
		return nil, time.Time{}, err
	}
	v.List = Table{Label: "Unlock codes", Head: []string{"Name", "Digits", "From", "Until", "Last used", "Now"}, None: "No codes yet."}
	for _, c := range found {
		now := "opens the door"
		why := l.o.Agent.Unlock.WhyNot(c)
		if why != "" {
			now = why
		}
		v.List.Rows = append(v.List.Rows, Row{Cells: []string{c.Name, fmt.Sprint(c.Digits), l.moment(c.From), l.moment(c.Until), l.moment(c.LastUsed), now}, Bad: why != "",
			Acts: []Button{{ID: "delete-" + c.ID, Label: "Delete", Send: "DELETE " + path + "/" + c.ID, Sure: "Delete " + c.Name + "?", Done: "Deleted.", Danger: true}}})
	}
	if wait, err := l.o.Agent.Unlock.LockedOut(of); err == nil && wait > 0 {
		v.Locked = "After too many wrong codes the keypad takes none for " + web.Length(wait.Truncate(time.Minute)+time.Minute) + "."
		v.Acts = []Button{{ID: "lift", Label: "Let it take codes again", Send: "DELETE " + path + "/lockout", Done: "It takes codes again."}}
	}
	v.New = &Form{ID: "code-new", Title: "Make a code", Send: "PUT " + path, Done: "The code is shown only now", Show: "Code=code, Name=name", Button: "Make the code",
		Note: "The digits are made here. A code of the same name is replaced.",
		Fields: []Input{{ID: "code-name", Name: "name", Label: "Name", Hint: "Who or what it is for.", Required: true, Max: 100},
			{ID: "code-until", Name: "valid_until", Label: "Ends", Type: "select", Choices: l.expiries()}}}
	return v, nextMinute(l.o.Agent.Now()), nil
}
