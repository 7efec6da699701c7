package webhook

import (
	"net/url"

	"roomgate/agent/outgoing"
)

const maxURL = 2048 // bytes

// CheckURL refuses an address that notifications can never go to. The address
// behind a name is judged when it is dialled.
func CheckURL(p outgoing.Policy, text string) error {
	u, err := parseURL(text)
	if err != nil {
		return err
	}
	switch {
	case u.User != nil:
		return invalid("url", "holds a user or a password: leave them out, the signature says who sends")
	case u.Fragment != "":
		return invalid("url", "has a fragment: leave out # and the rest, it is never sent")
	}
	if err := p.CheckURL(u); err != nil {
		return invalid("url", "%v", err)
	}
	return nil
}

func parseURL(text string) (*url.URL, error) {
	switch {
	case text == "":
		return nil, invalid("url", "is missing: want the https address of a receiver")
	case len(text) > maxURL:
		return nil, invalid("url", "has %d bytes: want at most %d", len(text), maxURL)
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Hostname() == "" {
		return nil, invalid("url", "is not an address: want https://HOST[:PORT]/PATH")
	}
	return u, nil
}
