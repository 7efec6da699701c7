package config

import "testing"

// A configuration from before says the same as ever: HTTPS takes the place of HTTP.
func TestTLS(t *testing.T) {
	for text, want := range map[string]struct {
		on, plain bool
		min       string
	}{
		"http: {}": {false, true, TLS13},
		"http: {tls: {certificate: /a.pem, key: /b.pem}}":                  {true, false, TLS13},
		"http: {tls: {certificate: /a.pem, key: /b.pem, listen: ':8443'}}": {true, true, TLS13},
		"http: {tls: {authority: true}}":                                   {true, false, TLS13},
		"http: {tls: {authority: true, listen: ':8443', redirect: true}}":  {true, true, TLS13},
		"cloud: {tls_min: 1.2}":                                            {false, true, TLS12},
		"cloud: {tls_min: '1.2'}":                                          {false, true, TLS12},
	} {
		c, err := Parse("x", []byte("gateway: {id: g}\n"+text), nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if c.HTTP.TLS.On() != want.on || c.HTTP.TLS.Plain() != want.plain || c.Cloud.TLSMin != want.min {
			t.Errorf("%s: %+v, tls_min %s", text, c.HTTP.TLS, c.Cloud.TLSMin)
		}
	}
}
