package access

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
)

func TestOrganizationKeys(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, rigOptions{dir: dir})
	all, err := r.Organizations()
	if err != nil || len(all) != 1 || all[0].ID != org || all[0].Name != org {
		t.Fatalf("the configuration names %+v, %v", all, err)
	}
	if _, err := r.CreateOrganization(t.Context(), org, "First"); err != nil {
		t.Error(err)
	}
	if _, err := r.CreateOrganization(t.Context(), org, "Again"); problem.As(err).Code != problem.Conflict {
		t.Errorf("named twice: %v", err)
	}
	second, err := r.CreateOrganization(t.Context(), "", " Second ")
	if err != nil || second.Name != "Second" || !auth.IsUUID(second.ID) {
		t.Fatalf("%+v, %v", second, err)
	}
	key, secret, err := r.CreateOrgKey(t.Context(), org, "app", []string{"bookings:read", "bookings:write"}, time.Time{})
	if err != nil || !strings.HasPrefix(secret, auth.OrganizationPrefix) || key.Prefix != secret[:10] || auth.Mistyped(secret) {
		t.Fatalf("%+v, %v", key, err)
	}
	if r.isSystem(secret) {
		t.Error("the key of an organization opens what is for system keys")
	}
	p, ok := r.AuthenticateKey(secret)
	want := Principal{ID: key.ID, Name: "app", Kind: KindOrganization, OrganizationID: org, Permissions: auth.BookingsRead | auth.BookingsWrite}
	if !ok {
		t.Fatalf("%+v, %v", p, ok)
	}
	goldentest.Values(t, "the key", goldentest.Pairs{"p": {p, want}, "Valid(p)": {r.Valid(p), true}, "System": {p.System(), false},
		"May(auth.DevicesRead)": {p.May(auth.DevicesRead), false}})
	if n := len(r.Keys()); n != 1 {
		t.Errorf("%d keys of the building", n)
	}
	if _, err := r.OrgKeys("nobody"); problem.As(err).Code != problem.NotFound {
		t.Errorf("keys of nobody: %v", err)
	}
	if err := r.RevokeOrgKey(t.Context(), second.ID, key.ID); problem.As(err).Code != problem.NotFound || !r.Valid(p) {
		t.Errorf("another organization revokes: %v", err)
	}
	if err := r.RevokeOrgKey(t.Context(), org, systemKeyID); problem.As(err).Code != problem.NotFound {
		t.Errorf("an organization revokes the system key: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = openRig(t, rigOptions{dir: dir})
	defer r.Close()
	if again, ok := r.AuthenticateKey(secret); !ok || again != want {
		t.Errorf("after a restart %+v, %v", again, ok)
	}
	changed := r.Changed()
	if err := r.RevokeOrgKey(t.Context(), org, key.ID); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.AuthenticateKey(secret); ok || r.Valid(p) {
		t.Error("a revoked key is good")
	}
	select {
	case <-changed:
	default:
		t.Error("nobody is told of a revoked key")
	}
	if keys, err := r.OrgKeys(org); err != nil || len(keys) != 1 || !keys[0].Revoked {
		t.Errorf("%+v, %v", keys, err)
	}
}

func TestBadOrganizationsAndKeys(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	for _, c := range []struct{ org, name, permission, field string }{
		{"", "x", "devices:read", "organization_id"}, {otherOrg, "x", "devices:read", "organization_id"}, {org, " ", "devices:read", "name"},
		{org, "x", "", "permissions"}, {org, "x", "devices", "permissions"}, {org, "x", "devices:admin", "permissions"},
	} {
		var permissions []string
		if c.permission != "" {
			permissions = []string{c.permission}
		}
		if _, _, err := r.CreateOrgKey(t.Context(), c.org, c.name, permissions, time.Time{}); problem.As(err).Field != c.field {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, _, err := r.CreateOrgKey(t.Context(), org, "x", []string{"devices:read"}, time.Unix(1, 0)); problem.As(err).Field != "expires_at" {
		t.Errorf("a key of the past: %v", err)
	}
	for id, name := range map[string]string{"": "", "x": "name", strings.ToUpper(otherOrg): "name"} {
		if _, err := r.CreateOrganization(t.Context(), id, name); problem.As(err).Code != problem.Invalid {
			t.Errorf("%q %q: %v", id, name, err)
		}
	}
}

func TestKeysBuyTokens(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.Close()
		key, secret, err := r.CreateOrgKey(t.Context(), org, "app", []string{"bookings:read", "bookings:write"}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		p, _ := r.AuthenticateKey(secret)
		token, expires, err := r.Token(p, []string{"bookings:read"}, 0)
		if err != nil || !expires.Equal(time.Now().Add(15*time.Minute)) {
			t.Fatalf("%v, %v", expires, err)
		}
		fewer, err := r.AuthenticateToken(token)
		if err != nil {
			t.Fatalf("%+v, %v", fewer, err)
		}
		goldentest.Values(t, "the token", goldentest.Pairs{"ID": {fewer.ID, key.ID},
			"Permissions": {fewer.Permissions, auth.BookingsRead}, "OrganizationID": {fewer.OrganizationID, org},
			"Kind": {fewer.Kind, KindOrganization}})
		for _, c := range []struct {
			who         Principal
			permissions []string
			life        time.Duration
			code        problem.Code
		}{
			{p, []string{"devices:read"}, 0, problem.Forbidden}, {p, []string{"doors"}, 0, problem.Invalid}, {p, nil, 2 * time.Hour, problem.Invalid}, {p, nil, time.Millisecond, problem.Invalid},
			{fewer, nil, 0, problem.Forbidden}, {Principal{ID: "ada", Kind: KindUser, Permissions: auth.All}, nil, 0, problem.Forbidden}, {Principal{}, nil, 0, problem.Forbidden},
		} {
			if got, _, err := r.Token(c.who, c.permissions, c.life); got != "" || problem.As(err).Code != c.code {
				t.Errorf("%+v: %v", c, err)
			}
		}
		r.wait(15 * time.Minute)
		if r.Valid(fewer) {
			t.Error("a stream outlives its token")
		}
		r.wantToken(t, "expired", token, false)
		token, _, _ = r.Token(p, nil, time.Hour)
		r.wantToken(t, "with all that the key has", token, true)
		if err := r.RevokeKey(t.Context(), key.ID); err != nil {
			t.Fatal(err)
		}
		r.wantToken(t, "of a revoked key", token, false)

		system := r.Keys()[0]
		sp := r.keyring.held().byID[system.ID].principal()
		all, _, _ := r.Token(sp, nil, 0)
		some, _, _ := r.Token(sp, auth.All.Names(), 0)
		if got, err := r.AuthenticateToken(all); err != nil || !got.System() || got.Permissions != auth.All {
			t.Errorf("for a system key: %+v, %v", got, err)
		}
		if got, err := r.AuthenticateToken(some); err != nil || got.System() || got.Permissions != auth.All {
			t.Errorf("for named permissions: %+v, %v", got, err)
		}
	})
}

// TestFullKeyring forgets the oldest revoked key, and no other.
func TestFullKeyring(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	full := map[string]*heldKey{}
	for i := range maxKeys {
		k := Key{ID: fmt.Sprint(i), Created: time.Unix(int64(i), 0), Revoked: i == 7 || i == 5}
		full[k.ID] = hold(storedKey{Key: k, Hash: make([]byte, 32)})
	}
	r.keyring.now.Store(newHeldKeys(full))
	for _, gone := range []string{"5", "7"} {
		if _, _, err := r.CreateKey(t.Context(), "x", time.Time{}); err != nil {
			t.Fatal(err)
		}
		if r.keyring.held().byID[gone] != nil || len(r.keyring.held().byID) != maxKeys {
			t.Errorf("%s is still there", gone)
		}
	}
	if _, _, err := r.CreateKey(t.Context(), "x", time.Time{}); problem.As(err).Code != problem.Full {
		t.Errorf("one too many: %v", err)
	}
}

// TestOneOrganizationLeavesRoomForKeys: an organization that makes keys without end fills
// its own places, forgets its own revoked keys, and takes nothing from others.
func TestOneOrganizationLeavesRoomForKeys(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	if _, err := r.CreateOrganization(t.Context(), otherOrg, "Other"); err != nil {
		t.Fatal(err)
	}
	full := maps.Clone(r.keyring.held().byID)
	for i := range maxKeysOfOrg {
		k := Key{ID: fmt.Sprint("own", i), Kind: KindOrganization, OrganizationID: org, Created: time.Unix(int64(i+9), 0), Revoked: i == 7}
		full[k.ID] = hold(storedKey{Key: k, Hash: make([]byte, 32)})
	}
	full["theirs"] = hold(storedKey{Key: Key{ID: "theirs", Kind: KindOrganization, OrganizationID: otherOrg, Created: time.Unix(1, 0), Revoked: true}, Hash: make([]byte, 32)})
	r.keyring.now.Store(newHeldKeys(full))
	add := func(organization string) error {
		_, _, err := r.CreateOrgKey(t.Context(), organization, "x", []string{"devices:read"}, time.Time{})
		return err
	}
	if err := add(org); err != nil {
		t.Errorf("in the place of a revoked one: %v", err)
	}
	if now := r.keyring.held().byID; now["own7"] != nil || now["theirs"] == nil {
		t.Error("another key than its own revoked one is forgotten")
	}
	if p := problem.As(add(org)); p == nil || p.Code != problem.Full || p.Field != "organization_id" {
		t.Errorf("one too many: %v", p)
	}
	_, _, err := r.CreateKey(t.Context(), "x", time.Time{})
	if err = errors.Join(err, add(otherOrg)); err != nil {
		t.Errorf("the building and another: %v", err)
	}
}
