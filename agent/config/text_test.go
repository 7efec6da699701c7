package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"roomgate/configs"
)

func TestNamedFiles(t *testing.T) {
	got := NamedFiles([]byte(`
http: {tls: {certificate: /etc/c.pem, key: /etc/k.pem}}
cloud: {password_file: /etc/p, ca_file: ""}
broker:
  users:
    - {name: a, password_file: /etc/a}
    - {name: b, password_file: /etc/a}
spaces:
  - devices:
      - {id: x, options: {password_file: /etc/x, key: no file}}
`))
	if d := cmp.Diff([]string{"/etc/c.pem", "/etc/k.pem", "/etc/p", "/etc/a", "/etc/x"}, got); d != "" {
		t.Error(d)
	}
	for _, text := range []string{"", "a: [", "just text", "- 1\n- 2"} {
		if got := NamedFiles([]byte(text)); got != nil {
			t.Errorf("%q names %v", text, got)
		}
	}
}

func TestWithGateway(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"# mine\ngateway:\n  id: old # old\n  name: old\n", "# mine\ngateway:\n  id: \"new\" # old\n  name: old\n"},
		{"gateway: {name: 'x', id: 'old'}\n", "gateway: {name: 'x', id: \"new\"}\n"},
		{"gateway: {\"id\": \"old\"}", "gateway: {\"id\": \"new\"}"},
		{string(configs.Demo), strings.Replace(string(configs.Demo), "id: demo\n", "id: \"new\"\n", 1)},
	} {
		got, err := WithGateway([]byte(c.text), "new")
		if err != nil || string(got) != c.want {
			t.Errorf("%s\n%v", cmp.Diff(c.want, string(got)), err)
		}
	}
	for _, text := range []string{"", "gateway: {name: x}", "gateway:\n  id: >-\n    old\n", "gateway: {id: \"o\\u006cd\"}"} {
		if got, err := WithGateway([]byte(text), "new"); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
	if _, err := WithGateway([]byte("gateway: {id: a}"), "a b\n"); err == nil {
		t.Error("an id with a blank is taken")
	}
}
