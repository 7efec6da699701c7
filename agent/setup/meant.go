package setup

import (
	"errors"
	"net"
	"regexp"
	"slices"
	"strings"

	"roomgate/agent/config"
)

// Meant refuses an answer and says which one was probably meant. Whoever asks offers it, and
// takes it from nobody who has not seen it.
type Meant struct {
	Want    string // what is wanted
	Instead string // in place of the answer
}

func (m *Meant) Error() string { return m.Want + ", perhaps " + m.Instead }

// hostAlone is a name or an address without a scheme, perhaps with a port.
var hostAlone = regexp.MustCompile(`^([a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?)(:\d{1,5})?$`)

// Zone refuses what is no time zone.
func Zone(name string) error {
	const want = "want an IANA name like Europe/Berlin"
	if config.IsZone(name) {
		return nil
	}
	return meant(want, config.NearZone(name))
}

// BrokerAddress refuses what is no address of a cloud's broker, or of several with commas between.
func BrokerAddress(s string) error {
	const want = "want mqtts://HOST[:PORT], or mqtt://HOST[:PORT] without encryption"
	if all := config.Brokers(s).All(); len(all) > 0 && !slices.ContainsFunc(all, func(one string) bool { return !config.IsBroker(one) }) {
		return nil
	}
	return meant(want, config.NearBroker(s))
}

// GatewayID is CheckID for a name that somebody chooses freely.
func GatewayID(s string) error {
	if err := CheckID(s); err != nil {
		return meant(err.Error(), Slug(s))
	}
	return nil
}

func meant(want, instead string) error {
	if instead == "" {
		return errors.New(want)
	}
	return &Meant{want, instead}
}

// nearHub is a hub whose port was left out; empty: it is not that.
func nearHub(s string) string {
	if ip := net.ParseIP(strings.Trim(s, "[]")); ip != nil {
		return net.JoinHostPort(ip.String(), "1883")
	}
	if m := hostAlone.FindStringSubmatch(s); m != nil && m[3] == "" {
		return s + ":1883"
	}
	return ""
}

// nearPicture is an address whose scheme was left out; empty: it is not that.
func nearPicture(s string) string {
	host, _, _ := strings.Cut(s, "/")
	if hostAlone.MatchString(host) && strings.ContainsAny(host, ".:") {
		return "http://" + s
	}
	return ""
}
