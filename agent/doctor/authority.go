package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"roomgate/agent/machineuser"
	"roomgate/agent/tlsauthority"
)

// rootSoon is how long before its end the root is warned of: every phone of the
// house needs another one.
const rootSoon = 365 * 24 * time.Hour

// authority examines the building's own authority, which a door uses.
func (x *examination) authority() []Finding {
	const name, again = "own authority", "make one with sudo roomgate tls init, or write a certificate into the configuration"
	data := x.Config.Data
	for _, file := range []string{tlsauthority.AuthorityFile, tlsauthority.GatewayFile} {
		file = filepath.Join(data, tlsauthority.Dir, file)
		info, err := os.Stat(file)
		if err == nil && !x.user.May(info, machineuser.Read) {
			return one(fail(name, fmt.Sprintf("%s may not be read by %s", file, x.user.Name), "sudo chown "+x.user.Name+": "+filepath.Dir(file)+" "+file))
		}
	}
	a, err := tlsauthority.Load(data)
	if err != nil {
		return one(fail(name, err.Error(), again))
	}
	s := a.Status(tlsauthority.Found())
	found := one(ownAuthority(s, time.Now()))
	if s.Certificate == nil {
		return append(found, fail("own certificate", s.Trouble, "start the gateway, which makes one"))
	}
	return append(found, ownCertificate(*s.Certificate, time.Now()))
}

// ownAuthority examines the authority itself.
func ownAuthority(s tlsauthority.Status, now time.Time) Finding {
	const name, another = "own authority", "make another with sudo roomgate tls init --replace, and install its root on every phone"
	limits := strings.Join(slices.Concat(s.Names, s.Addresses), " ")
	switch {
	case now.After(s.Until):
		return fail(name, s.Root+" is over since "+s.Until.Format(time.DateOnly), another)
	case now.Add(rootSoon).After(s.Until):
		return warn(name, s.Root+" ends on "+s.Until.Format(time.DateOnly), another)
	case len(s.Outside) > 0:
		return warn(name, "it may not certify "+strings.Join(s.Outside, ", ")+", which this machine has now",
			"reach the gateway as "+limits+", or make another authority with sudo roomgate tls init --replace")
	}
	return good(name, "%s, for %s, until %s", s.Root, limits, s.Until.Format(time.DateOnly))
}

// ownCertificate examines what the gateway has made itself, and makes again 30 days
// before its end while its clock is trusted.
func ownCertificate(c tlsauthority.Certificate, now time.Time) Finding {
	const name = "own certificate"
	seen := fmt.Sprintf("%s, until %s", strings.Join(slices.Concat(c.Names, c.Addresses), " "), c.Until.Format(time.DateOnly))
	switch {
	case now.After(c.Until):
		return fail(name, seen+", which is over", "start the gateway; it makes another once its clock is trusted, or at once with sudo roomgate clock confirm")
	case now.Before(c.From):
		return fail(name, seen+", not valid before "+c.From.Format(time.RFC3339), "check the clock")
	case now.Add(tlsauthority.RenewBefore - 24*time.Hour).After(c.Until):
		return warn(name, seen+", and it is not renewed", "see the gateway's log; it renews once its clock is trusted, or at once with sudo roomgate clock confirm")
	}
	return good(name, "%s", seen)
}
