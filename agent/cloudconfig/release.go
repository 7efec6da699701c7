package cloudconfig

import (
	"errors"
	"net/url"

	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
)

// maxURL is how long the address of a release is at most.
const maxURL = 2048

// update checks where the release is that the cloud wants.
func (c *configuring) update() error {
	if c.down.Update == nil {
		return nil
	}
	address := c.down.Update.URL
	if address != "" {
		if err := checkRelease(address); err != nil {
			return problem.New(problem.Invalid, "update.url", "%s", err)
		}
	}
	c.opens("update.url", address != "" && address != c.kept.Update) // it is asked for from inside the building
	c.kept.Update, c.kept.Sealed.Update = address, nil
	c.add(eventlog.Stage{Show: func() { c.configuration.update.Store(&address) }})
	return nil
}

// checkRelease refuses an address from which no release is fetched.
func checkRelease(text string) error {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURL || err != nil || u.Hostname() == "":
		return errors.New("is not an address: want https://HOST[:PORT]/PATH")
	case u.Scheme != "https":
		return errors.New("is not https: want https://HOST[:PORT]/PATH")
	case u.User != nil:
		return errors.New("holds a user or a password: leave them out, the bundle is signed")
	}
	return nil
}
