package health

import (
	"slices"
	"testing"
)

func TestWhereTheGatewayIsReached(t *testing.T) {
	own := []string{"10.0.0.5", "fd00::5"}
	for listen, want := range map[string]Endpoint{
		":8080":          {Port: 8080, Addresses: own},
		"0.0.0.0:80":     {Port: 80, Addresses: own},
		"[::]:80":        {Port: 80, Addresses: own},
		"127.0.0.1:80":   {Port: 80, Addresses: []string{}},
		"localhost:80":   {Port: 80, Addresses: []string{}},
		"192.0.2.7:8080": {Port: 8080, Addresses: []string{"192.0.2.7"}},
		"gateway:8080":   {Port: 8080, Addresses: []string{"gateway"}},
	} {
		if got := endpoint(listen, own); got.Port != want.Port || !slices.Equal(got.Addresses, want.Addresses) {
			t.Errorf("%s is reached at %+v, want %+v", listen, got, want)
		}
	}
}

func TestPageOfTheGateway(t *testing.T) {
	for _, c := range []struct {
		at   Endpoint
		want string
	}{
		{Endpoint{Port: 8081, Addresses: []string{"192.0.2.7"}}, "http://192.0.2.7:8081/claim"},
		{Endpoint{TLS: true, Port: 443, Addresses: []string{"fd00::5", "192.0.2.7"}}, "https://192.0.2.7:443/claim"},
		{Endpoint{TLS: true, Port: 443, Addresses: []string{"fd00::5"}}, "https://[fd00::5]:443/claim"},
		{Endpoint{Port: 8081, Addresses: []string{}}, ""},
		{Endpoint{}, ""},
	} {
		if got := (Network{HTTP: c.at}).Page("/claim"); got != c.want {
			t.Errorf("%+v: %q, want %q", c.at, got, c.want)
		}
	}
}
