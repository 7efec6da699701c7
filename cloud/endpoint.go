package cloud

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// endpoint is a broker, one of those that a link tries in turn.
type endpoint struct {
	url     *url.URL // with the user in it, if any
	address string   // host:port
}

// CheckURL refuses what Link could not connect to, with an error that says
// what would be right.
func CheckURL(raw string) error {
	_, err := targets(raw)
	return err
}

// SplitURL are the brokers that a URL of LinkOptions names. A comma in a password is none
// between two.
func SplitURL(raw string) (all []string) {
	for one := range strings.SplitSeq(raw, ",") {
		if n := len(all); n > 0 && !strings.Contains(one, "://") {
			all[n-1] += "," + one
			continue
		}
		all = append(all, strings.TrimSpace(one))
	}
	return all
}

// targets are the brokers, at least one.
func targets(raw string) (all []endpoint, err error) {
	for _, one := range SplitURL(raw) {
		b, err := target(one)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// target is one URL taken apart.
func target(raw string) (b endpoint, err error) {
	u, err := url.Parse(raw)
	if err != nil {
		// The error of url.Parse repeats the URL, and a password with it.
		return b, errors.New("broker URL cannot be read: want mqtt://host or mqtts://host")
	}
	port := map[string]string{"mqtt": "1883", "mqtts": "8883"}[u.Scheme]
	if port == "" || u.Hostname() == "" || strings.Contains(u.Hostname(), ",") {
		return b, fmt.Errorf("broker URL %q: want mqtt://host or mqtts://host", u.Redacted())
	}
	if (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		return b, fmt.Errorf("broker URL %q has a path or a query: want mqtt://host[:port]", u.Redacted())
	}
	return endpoint{u, net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))}, nil
}

// turn makes it the turn of the next broker, and says whether that is to be tried at
// once: all of them once before a pause. A link stays at one that closes soon, which may
// be because of another client with its id.
func (l *Link) turn(announced, stay bool) (atOnce bool) {
	l.failed++
	if announced {
		l.failed = 0
	}
	if len(l.brokers) == 1 || announced && stay {
		return false
	}
	l.at = (l.at + 1) % len(l.brokers)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endpoint, l.speaks = l.brokers[l.at], ""
	return l.failed%len(l.brokers) != 0
}
