package cloudconfig

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/device"
	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
	"roomgate/agent/unlock"
	"roomgate/cloud"
	"roomgate/store"
)

// whole names one of everything that the cloud manages.
const whole = `{"revision":1,
	"spaces":[{"id":"corona","name":"Corona","timezone":"Europe/Berlin"},{"id":"aurora","capacity":12}],
	"devices":[{"id":"door-3","meeting_space_id":"corona","type":"lock","driver":"rp2040"}],
	"permissions":[{"device_id":"light-1","action":"on","allow":["admin"]}],
	"users":[{"id":"ada","email":"ada@example.com","name":"Ada","role":"admin"}],
	"keys":[{"id":"app","name":"App","hash":"00ff","prefix":"rgorg_ab","organization_id":"acme","permissions":["devices:read"]}],
	"unlock_codes":[{"meeting_space_id":"corona","name":"Cleaning","code":"483920"}],
	"rules":[{"id":"warm","name":"warm","trigger":{"event":"temperatureAlert"},"actions":[{"meeting_space_id":"aurora","device_type":"light","action":"on"}]}],
	"update":{"url":"https://example.org/a"}}`

func TestReadConfig(t *testing.T) {
	d, err := readConfig(cloud.Envelope{Data: []byte(whole)})
	if err != nil {
		t.Fatal(err)
	}
	goldentest.Values(t, "read as", goldentest.Pairs{"Revision": {d.Revision, 1}, "len(*d.Spaces)": {len(*d.Spaces), 2},
		"len(*d.Rules)": {len(*d.Rules), 1}, "no Update.URL": {d.Update.URL == "", false}, "SigningKeys": {d.SigningKeys, nil}})
}

func FuzzReadConfig(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`{"revision":1,"spaces":[{}],"devices":[{"id":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := readConfig(cloud.Envelope{Data: data}); err != nil {
			if e := device.AsError(err); e.Code != problem.Invalid {
				t.Errorf("%v", err)
			}
		}
	})
}

// TestStored: which rows a repair must doubt for the same revision to be applied
// again, and what another gateway keeps of the row.
func TestStored(t *testing.T) {
	db, _, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), store.Options{Schema: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	keys, _ := auth.NewKeys(bytes.Repeat([]byte("a"), auth.SecretSize))
	if c, err := stored(db, keys); err != nil || !reflect.DeepEqual(c, storedConfig{}) {
		t.Errorf("before the cloud sent anything: %+v, %v", c, err)
	}
	was := storedConfig{Revision: 7, Message: "m7", Keys: []string{"app"}, Update: "https://example.org/a"}
	change := func(f func(tx *store.Tx) error) storedConfig {
		t.Helper()
		err := db.Update(t.Context(), func(tx *store.Tx) error { return errors.Join(table.Put(tx, current, was), f(tx)) })
		c, e := stored(db, keys)
		if err = errors.Join(err, e); err != nil {
			t.Error(err)
		}
		return c
	}
	for _, c := range []struct {
		lost  string
		again bool
	}{{table.Bucket(), true}, {access.KeyBucket(), true}, {unlock.CodeBucket(), true}, {"table:bookings", false}} {
		r := store.Repair{Tables: []store.TableRepair{{Name: c.lost, Lost: 1}}}
		if got := change(func(tx *store.Tx) error { return Mend(tx, r) }); got.Again != c.again || got.Revision != 7 {
			t.Errorf("%s lost: %+v", c.lost, got)
		}
	}
	if got := change(Forget); !reflect.DeepEqual(got, storedConfig{Keys: []string{"app"}}) {
		t.Errorf("another gateway has %+v", got)
	}
}

// TestDoubtedRules: what an earlier version has stored tells which rules came without a signature.
func TestDoubtedRules(t *testing.T) {
	none, one := []string{}, []string{"b"}
	for name, c := range map[string]struct {
		row  storedConfig
		want []string
	}{
		"of an earlier version, never signed": {storedConfig{Rules: []string{"a", "b"}}, []string{"a", "b"}},
		"of an earlier version, signed":       {storedConfig{Rules: []string{"a", "b"}, Signed: "x"}, none},
		"signed":                              {storedConfig{Rules: []string{"a", "b"}, Doubted: &none}, none},
		"some":                                {storedConfig{Rules: []string{"a", "b"}, Signed: "x", Doubted: &one}, one},
	} {
		if got := c.row.doubted(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestAddressOfARelease: only https without a password.
func TestAddressOfARelease(t *testing.T) {
	for url, good := range map[string]bool{"https://example.org:8443/x.bundle?a=b": true, "http://example.org/x": false, "https://": false,
		"": false, "https://a:b@example.org/": false, "file:///etc/passwd": false, "https://x/" + strings.Repeat("y", maxURL): false} {
		if err := checkRelease(url); (err == nil) != good {
			t.Errorf("%.60s: %v", url, err)
		}
	}
}
