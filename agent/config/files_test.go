package config

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"roomgate/drivers"
)

// What begins with # is a comment: the password before it is empty.
func TestEmptySecrets(t *testing.T) {
	for in, want := range map[string][]string{
		"cloud: {url: 'mqtt://x', username: u, password: }":                          {"cloud.password"},
		"cloud:\n  username: u\n  password: #foo":                                    {"cloud.password"},
		"cloud: {username: u, password: ''}":                                         {"cloud.password"},
		"cloud: {username: u, password: '#foo'}":                                     nil,
		"cloud: {username: u, password: , password_file: f}":                         nil,
		"cloud: {username: '', password: ''}":                                        nil,
		"cloud: {username: u}":                                                       nil,
		"smtp: {url: 'smtp://x', from: a@b, username: u, password: }":                {"smtp.password"},
		"push: {url: 'https://x', token: }":                                          {"push.token"},
		secretSpace + "{id: a, type: light, driver: lamp, options: {password: }}]}]": {"spaces[0].devices[0].options.password"},
	} {
		c, err := Parse("g.yaml", []byte("gateway: {id: g}\n"+in+"\n"), secretive())
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := c.EmptySecrets(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestFiles(t *testing.T) {
	c, err := Parse("g.yaml", []byte("gateway: {id: g}\ncloud: {url: 'mqtts://x', username: u, password_file: /a, ca_file: /b, client_certificate: /c, client_key: /d}\n"+
		"push: {token_file: /e}\nsmtp: {username: u, password_file: /f}\nbroker: {users: [{name: u, password_file: /g}]}\n"+
		secretSpace+"{id: a, type: light, driver: lamp, options: {password_file: /h}}]}]\n"), secretive())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range c.Files() {
		got[f.Path] = f.Key
	}
	want := map[string]string{"/a": "cloud.password_file", "/b": "cloud.ca_file", "/c": "cloud.client_certificate", "/d": "cloud.client_key",
		"/e": "push.token_file", "/f": "smtp.password_file", "/g": "broker.users[0].password_file", "/h": "spaces[0].devices[0].options.password_file"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	d := Default()
	if none := d.Files(); none != nil {
		t.Errorf("of the defaults: %v", none)
	}
}

// secretOptions are those of a driver that logs in without a user.
type secretOptions struct {
	lampOptions  `yaml:",inline"`
	PasswordFile string `yaml:"password_file"`
}

func secretive() []drivers.Kind {
	return []drivers.Kind{{Name: "lamp", Type: drivers.TypeLight, Options: func() drivers.Options { return &secretOptions{} }}}
}

const secretSpace = "spaces: [{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: A, devices: ["

// TestCutSecrets: a comment behind a password may be its second half; one in quotes is whole.
func TestCutSecrets(t *testing.T) {
	for text, want := range map[string][]string{
		"red #8": {"cloud.password"}, `"red #8"`: nil, "red#8": nil, `"red" # of the label`: nil, "red": nil,
	} {
		c, err := Parse("g.yaml", []byte("gateway: {id: g} # who\ncloud:\n  url: mqtts://x\n  username: u\n  password: "+text+"\n"), nil)
		if err != nil || !slices.Equal(c.CutSecrets(), want) {
			t.Errorf("%s: %v, %v", text, c.CutSecrets(), err)
		}
	}
}
