package config

import (
	"cmp"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// brokerURL says whether a URL has what leads to a broker, and nothing else.
func brokerURL(u *url.URL) bool {
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "1"), 10, 16)
	return err == nil && port > 0 && u.Hostname() != "" && !strings.Contains(u.Hostname(), ",") && (u.Scheme == "mqtt" || u.Scheme == "mqtts") &&
		strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
}

// IsBroker says whether a text is the address of one broker, without user and password.
func IsBroker(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.User == nil && brokerURL(u)
}

// hostAndPort are a name or an address, perhaps with another scheme, a port or a slash.
var hostAndPort = regexp.MustCompile(`^(?i:([a-z]+)://)?([a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?)(?::(\d{1,5}))?/?$`)

// NearBroker is the broker's address that was probably meant by a host alone, or by one with the
// scheme of others; empty: nobody knows. It is without encryption only where the port says so.
func NearBroker(s string) string {
	m := hostAndPort.FindStringSubmatch(s)
	if m == nil || m[1] == "" && !strings.ContainsAny(s, ".:") && s != "localhost" {
		return ""
	}
	scheme, port := strings.ToLower(m[1]), m[3]
	switch plain := scheme == "" || scheme == "tcp" || scheme == "mqtt"; {
	case plain && port == "1883", scheme == "tcp" && port == "":
		return "mqtt://" + m[2] + ":1883"
	case port == "" || strings.HasPrefix(scheme, "http"):
		port = "8883"
	}
	near := "mqtts://" + m[2] + ":" + port
	if !IsBroker(near) {
		return ""
	}
	return near
}
