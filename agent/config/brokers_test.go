package config

import (
	"slices"
	"strings"
	"testing"
)

// Several brokers are a list or a text with commas; each is checked.
func TestBrokers(t *testing.T) {
	for yaml, want := range map[string][]string{
		"cloud: {url: [mqtts://a, 'mqtts://b:1']}": {"mqtts://a", "mqtts://b:1"},
		"cloud: {url: 'mqtts://a, mqtts://b:1'}":   {"mqtts://a", "mqtts://b:1"},
		"cloud: {url: mqtts://a}":                  {"mqtts://a"},
		"cloud: {url: ''}":                         nil,
		"cloud: {url: []}":                         nil,
	} {
		c, err := Parse("x", []byte("gateway: {id: g}\n"+yaml), nil)
		if err != nil || !slices.Equal(c.Cloud.URL.All(), want) {
			t.Errorf("%s: %v", yaml, err)
		}
	}
	for _, wrong := range []string{"[mqtts://a, http://b]", "'mqtts://a,b'", "'mqtts://a,'", "[mqtts://a, [x]]", "{a: b}", "[mqtt://a, mqtts://u:p@b]"} {
		if _, err := Parse("x", []byte("gateway: {id: g}\ncloud: {url: "+wrong+"}"), nil); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}

// A broker for gateways without a certificate stands beside one that wants certificates.
func TestEnrolURL(t *testing.T) {
	for yaml, field := range map[string]string{
		"{url: mqtts://a, enrol_url: 'mqtts://b:8884'}":        "",
		"{url: mqtts://a, enrol_url: [mqtts://b, mqtts://c]}":  "",
		"{url: mqtts://a, enrol_url: mqtt://b}":                "cloud.enrol_url",
		"{url: mqtts://a, enrol_url: 'mqtts://u:p@b'}":         "cloud.enrol_url",
		"{url: mqtt://a, enrol_url: mqtts://b}":                "cloud.enrol_url",
		"{enrol_url: mqtts://b}":                               "cloud.enrol_url",
		"{url: mqtts://a, enrol_url: mqtts://b, acks: broker}": "cloud.acks",
	} {
		_, err := Parse("x", []byte("gateway: {id: g}\ncloud: "+yaml), nil)
		if (err == nil) != (field == "") || err != nil && !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v, want %q", yaml, err, field)
		}
	}
}
