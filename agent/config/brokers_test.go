package config

import (
	"slices"
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
