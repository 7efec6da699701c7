package access

import (
	"fmt"
	"testing"

	"roomgate/agent/problem"
)

// TestNamesHideNothing: a name that a screen or a mail shows has no character which
// changes the text beside it, in a new user and in a changed one.
func TestNamesHideNothing(t *testing.T) {
	r := openRig(t, rigOptions{dir: t.TempDir()})
	defer r.Close()
	uma, err := r.CreateUser(t.Context(), PersonSpec{Email: "uma@example.com", Name: "Umá 乌玛 عمى"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a\x00b", "a\x1b[2Jb", "a\r\nb", "a\x7fb", "a\u0085b", "a\u009bb", "a\u202eb", "a\u2066b", "a\u200fb", "a\xffb"} {
		_, err := r.CreateUser(t.Context(), PersonSpec{Email: "x@example.com", Name: name})
		if p := problem.As(err); p == nil || p.Code != problem.Invalid || p.Field != "name" {
			t.Errorf("created as %q: %v", name, err)
		}
		_, err = r.ChangeUser(t.Context(), uma.ID, PersonChange{Name: &name})
		if p := problem.As(err); p == nil || p.Code != problem.Invalid || p.Field != "name" {
			t.Errorf("changed to %q: %v", name, err)
		}
	}
	mark := r.users.Load().marks[uma.ID]
	old := *mark.Made
	old.Name, mark.Made = "a\nb", &old
	if err := putMark(t.Context(), r.Directory, uma.ID, mark, nil); err != nil {
		t.Fatal(err)
	}
	operator := "operator"
	if u, err := r.ChangeUser(t.Context(), uma.ID, PersonChange{Role: &operator}); err != nil || u.Role != "operator" {
		t.Errorf("the role of one whom an earlier version has named so: %+v, %v", u, err)
	}
}

// TestUsersOfAnOrganizationAreBounded: one organization does not take the places of
// the building, and a place that is free again can be taken.
func TestUsersOfAnOrganizationAreBounded(t *testing.T) {
	r := openRig(t, rigOptions{dir: t.TempDir()})
	defer r.Close()
	var last User
	add := func(i int, organization string) (err error) {
		last, err = r.CreateUser(t.Context(), PersonSpec{Email: fmt.Sprintf("u%d@example.com", i), OrganizationID: organization})
		return err
	}
	for i := range maxMade {
		if err := add(i, org); err != nil {
			t.Fatal(i, err)
		}
	}
	made := last.ID
	if p := problem.As(add(maxMade, org)); p == nil || p.Code != problem.Full || p.Field != "organization_id" {
		t.Errorf("one too many: %v", p)
	}
	if err := add(maxMade, ""); err != nil {
		t.Errorf("the building: %v", err)
	}
	if err := r.RemoveUser(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if err := add(maxMade+1, org); err != nil {
		t.Errorf("in the place of one that was removed: %v", err)
	}
}
