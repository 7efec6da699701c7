package access

import (
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
	"roomgate/store"
)

func TestUsersAreMade(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, rigOptions{dir: dir})
	uma, err := r.CreateUser(t.Context(), PersonSpec{Email: "Uma@example.com", Name: " Uma ", OrganizationID: org})
	if err != nil {
		t.Fatalf("%+v, %v", uma, err)
	}
	goldentest.Values(t, "uma", goldentest.Pairs{"Email": {uma.Email, "uma@example.com"}, "Name": {uma.Name, "Uma"},
		"Role": {uma.Role, "member"}, "Enabled": {uma.Enabled, true}, "Made": {uma.Made, true},
		"OrganizationID": {uma.OrganizationID, org}})
	if r.UserByEmail("uma@example.com", "") == nil || !slices.ContainsFunc(r.People(), func(p config.Person) bool { return p.ID == uma.ID && p.Enabled }) {
		t.Error("messages do not reach her")
	}
	for what, c := range map[string]struct {
		s     PersonSpec
		code  problem.Code
		field string
	}{
		"taken address":           {PersonSpec{Email: "ADA@example.com"}, problem.Conflict, "email"},
		"taken by one made here":  {PersonSpec{Email: "uma@example.com", OrganizationID: org}, problem.Conflict, "email"},
		"no address":              {PersonSpec{Email: "uma"}, problem.Invalid, "email"},
		"no role":                 {PersonSpec{Email: "a@example.com", Role: "boss"}, problem.Invalid, "role"},
		"no organization of ours": {PersonSpec{Email: "a@example.com", OrganizationID: otherOrg}, problem.Invalid, "organization_id"},
		"a long name":             {PersonSpec{Email: "a@example.com", Name: strings.Repeat("x", 201)}, problem.Invalid, "name"},
	} {
		if _, err := r.CreateUser(t.Context(), c.s); problem.As(err) == nil || problem.As(err).Code != c.code || problem.As(err).Field != c.field {
			t.Errorf("%s: %v", what, err)
		}
	}
	token := r.token(t, uma.ID)
	admin := "admin"
	if now, err := r.ChangeUser(t.Context(), uma.ID, PersonChange{Role: &admin}); err != nil || now.Role != "admin" || now.Name != "Uma" {
		t.Errorf("%+v, %v", now, err)
	}
	if now, err := r.AuthenticateToken(token); err != nil || !now.Admin || now.OrganizationID != org {
		t.Errorf("the role does not count at once: %+v, %v", now, err)
	}
	member := "member"
	p, _ := r.AuthenticateToken(token)
	if _, err := r.ChangeUser(t.Context(), uma.ID, PersonChange{Role: &member}); err != nil || r.Valid(p) {
		t.Errorf("who is no admin any more goes on as one: %v", err)
	}
	boss := "boss"
	if _, err := r.ChangeUser(t.Context(), uma.ID, PersonChange{Role: &boss}); problem.As(err).Field != "role" {
		t.Errorf("a role that there is not: %v", err)
	}
	for what, err := range map[string]error{
		"changed": second(r.ChangeUser(t.Context(), "ada", PersonChange{Role: &member})), "removed": r.RemoveUser(t.Context(), "ada"),
	} {
		if problem.As(err).Code != problem.NotNow {
			t.Errorf("one of the configuration is %s: %v", what, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}

	r = openRig(t, rigOptions{dir: dir})
	defer r.Close()
	if u := r.User(uma.ID); u == nil || u.Role != "member" || !u.Enabled {
		t.Fatalf("after a restart %+v", u)
	}
	err = r.db.View(func(tx *store.Tx) error {
		if words := Words(tx); !slices.Contains(words, "uma@example.com") || !slices.Contains(words, "Uma") {
			t.Errorf("a support bundle may hold her: %v", words)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	// The configuration comes to name her address in the organization: it counts, and she is kept out until
	// it does not.
	more := append(slices.Clone(people), config.Person{ID: "second", Email: "UMA@example.com", Role: "display", OrganizationID: org, Enabled: true})
	if err := r.events.Commit(t.Context(), r.StagePeople(more)); err != nil {
		t.Fatal(err)
	}
	r.wantToken(t, "the configuration names her address", token, false)
	if u := r.UserByEmail("uma@example.com", ""); u == nil || u.ID != "second" {
		t.Errorf("her address is that of %+v", u)
	}
	if err := r.EnableUser(t.Context(), uma.ID, true); problem.As(err).Code != problem.NotNow {
		t.Errorf("let in with another's address: %v", err)
	}
	if err := r.events.Commit(t.Context(), r.StagePeople(people)); err != nil {
		t.Fatal(err)
	}
	r.wantToken(t, "not any more", token, true)

	changed := r.Changed()
	if err := r.RemoveUser(t.Context(), uma.ID); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	default:
		t.Error("nobody is told that she is removed")
	}
	r.wantToken(t, "removed", token, false)
	if err := r.RemoveUser(t.Context(), uma.ID); problem.As(err).Code != problem.NotFound {
		t.Errorf("removed twice: %v", err)
	}
	if again, err := r.CreateUser(t.Context(), PersonSpec{Email: "uma@example.com"}); err != nil || again.ID == uma.ID {
		t.Errorf("made again: %+v, %v", again, err)
	}
	r.wantToken(t, "made again, with a token from before", token, false)
}

func second[T any](_ T, err error) error { return err }

func TestOrganizationsAreRenamedAndRemoved(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	held := []string{"2 webhooks"}
	r.options.Holdings = func(string) []string { return held }
	acme, err := r.CreateOrganization(t.Context(), "", "Acme")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.CreateOrganization(t.Context(), "", " aCME "); problem.As(err).Code != problem.Conflict || !strings.Contains(err.Error(), acme.ID) {
		t.Errorf("a second one with its name: %v", err)
	}
	if o, err := r.CreateOrganization(t.Context(), org, "First"); err != nil || o.ID != org {
		t.Error(err)
	}
	if _, err := r.RenameOrganization(t.Context(), acme.ID, "first"); problem.As(err).Code != problem.Conflict {
		t.Errorf("renamed to another's name: %v", err)
	}
	if o, err := r.RenameOrganization(t.Context(), acme.ID, " ACME "); err != nil || o.Name != "ACME" || !o.CreatedAt.Equal(acme.CreatedAt) {
		t.Errorf("renamed: %+v, %v", o, err)
	}
	if _, err := r.RenameOrganization(t.Context(), acme.ID, " "); problem.As(err).Field != "name" {
		t.Errorf("no name: %v", err)
	}
	if _, err := r.RenameOrganization(t.Context(), otherOrg, "x"); problem.As(err).Code != problem.NotFound {
		t.Errorf("renamed nothing: %v", err)
	}

	refused := func(words string) {
		t.Helper()
		if err := r.RemoveOrganization(t.Context(), acme.ID); problem.As(err) == nil || problem.As(err).Code != problem.Conflict || !strings.Contains(err.Error(), words) {
			t.Errorf("removed, want a refusal with %q: %v", words, err)
		}
	}
	refused("still has 2 webhooks")
	held = nil
	u, err := r.CreateUser(t.Context(), PersonSpec{Email: "uma@example.com", OrganizationID: acme.ID})
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := r.CreateOrgKey(t.Context(), acme.ID, "app", []string{"bookings:read"}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	refused("still has 1 user, 1 key")
	if err := r.RemoveUser(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	refused("still has 1 key")
	if err := r.RevokeOrgKey(t.Context(), acme.ID, key.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveOrganization(t.Context(), acme.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Organization(acme.ID); problem.As(err).Code != problem.NotFound {
		t.Errorf("still there: %v", err)
	}
	if _, ok := r.keyring.held().byID[key.ID]; ok {
		t.Error("its revoked key is kept")
	}
	if err := r.RemoveOrganization(t.Context(), acme.ID); problem.As(err).Code != problem.NotFound {
		t.Errorf("removed twice: %v", err)
	}
}
