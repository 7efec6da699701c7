package access

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/problem"
)

// spec is a key of an organization, with that id and secret.
func spec(id, secret string) KeySpec {
	hash := sha256.Sum256([]byte(secret))
	return KeySpec{ID: id, Name: id, Hash: hex.EncodeToString(hash[:]), Prefix: "rgorg_", OrganizationID: otherOrg, Permissions: []string{"devices:read"}}
}

// stage makes keys, or returns why it was refused.
func (r *rig) stage(want []KeySpec, mine []string) ([]string, error) {
	s, ids, err := r.StageKeys(want, mine)
	if err == nil {
		err = r.events.Commit(r.t.Context(), s)
	}
	return ids, err
}

func TestStagedKeys(t *testing.T) {
	o := rigOptions{dir: t.TempDir()}
	r := openRig(t, o)
	ids, err := r.stage([]KeySpec{spec("a", "secret a"), spec("b", "secret b")}, nil)
	if err != nil || !slices.Equal(ids, []string{"a", "b"}) {
		t.Fatalf("%v, %v", ids, err)
	}
	p, ok := r.AuthenticateKey("secret a")
	if want := (Principal{ID: "a", Name: "a", Kind: KindOrganization, OrganizationID: otherOrg, Permissions: auth.DevicesRead}); !ok || p != want {
		t.Errorf("%+v, %v", p, ok)
	}
	if _, err := r.Organization(otherOrg); err != nil {
		t.Errorf("its organization: %v", err)
	}
	changed := r.Changed()
	if ids, err = r.stage([]KeySpec{spec("b", "secret c")}, ids); err != nil || !slices.Equal(ids, []string{"b"}) {
		t.Fatalf("%v, %v", ids, err)
	}
	select {
	case <-changed:
	default:
		t.Error("nobody is told of a revoked key")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = openRig(t, o)
	for secret, want := range map[string]bool{"secret a": false, "secret b": false, "secret c": true} {
		if _, ok := r.AuthenticateKey(secret); ok != want {
			t.Errorf("after a restart %s opens: %v", secret, ok)
		}
	}
}

// TestRefusedStages leaves all as it was, and the next one has its turn.
func TestRefusedStages(t *testing.T) {
	r := openRig(t, rigOptions{})
	mine, _, err := r.CreateKey(t.Context(), "made here", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	changed := func(change func(*KeySpec)) KeySpec {
		k := spec("x", "secret x")
		change(&k)
		return k
	}
	var many []KeySpec
	for i := range maxKeys {
		many = append(many, spec(fmt.Sprint(i), fmt.Sprint("secret ", i)))
	}
	for field, want := range map[string][]KeySpec{
		"[0].id":              {spec(mine.ID, "secret a")},
		"[1].id":              {spec("a", "secret a"), spec("a", "secret b")},
		"[1].hash":            {spec("a", "secret a"), spec("b", "secret a")},
		"[0].name":            {changed(func(k *KeySpec) { k.Name = " " })},
		"[0].prefix":          {changed(func(k *KeySpec) { k.Prefix = "seventeen letters" })},
		"[0].permissions":     {changed(func(k *KeySpec) { k.OrganizationID = "" })},
		"[0].organization_id": {changed(func(k *KeySpec) { k.OrganizationID = "x" })},
		"":                    many,
	} {
		if _, err := r.stage(want, nil); problem.As(err) == nil || problem.As(err).Field != field {
			t.Errorf("%s: %v", cmp.Or(field, "too many"), err)
		}
	}
	if n := len(r.Keys()); n != 2 {
		t.Errorf("%d keys, want the system key and the one that was made here", n)
	}
	if _, err := r.stage([]KeySpec{spec("a", "secret a")}, nil); err != nil {
		t.Errorf("after the refusals: %v", err)
	}
}

func TestStagedPeople(t *testing.T) {
	r := openRig(t, rigOptions{})
	token := r.token(t, "ada")
	if err := r.EnableUser(t.Context(), "mel", false); err != nil {
		t.Fatal(err)
	}
	few := slices.Clone(people[1:])
	few[1].OrganizationID, few[1].Enabled, few[1].Role = otherOrg, true, "admin"
	if err := r.events.Commit(t.Context(), r.StagePeople(few)); err != nil {
		t.Fatal(err)
	}
	r.wantToken(t, "of one who is not named any more", token, false)
	if all := r.Users(); len(all) != 2 || all[0].Enabled || !all[1].Enabled {
		t.Errorf("%+v: what was decided here about a user stays", all)
	}
	if _, err := r.Organization(otherOrg); err != nil {
		t.Errorf("an organization that a user names: %v", err)
	}
	for organization, want := range map[string]int{"": 0, org: 0, otherOrg: 1} {
		if got := r.Admins(organization); len(got) != want {
			t.Errorf("%q has the admins %+v", organization, got)
		}
	}
	if err := r.events.Commit(t.Context(), r.StagePeople(people)); err != nil {
		t.Errorf("the turn was not given back: %v", err)
	}
}
