package config

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/auth"
	"roomgate/drivers"
)

// SMTP is the mail relay; an empty URL means that there is none, and so no
// sign-in by e-mail.
type SMTP struct {
	// URL is smtp://host[:587], which demands STARTTLS, or smtps://host[:465].
	// A relay on this machine, as smtp://127.0.0.1:25, is spoken to in clear.
	URL          string         `yaml:"url"`
	Username     string         `yaml:"username"`
	Password     drivers.Secret `yaml:"password"`
	PasswordFile string         `yaml:"password_file"`
	CAFile       string         `yaml:"ca_file"`
	// From is the sender, as "Name <name@example.com>".
	From string `yaml:"from"`
}

// Auth is how long a sign-in lasts.
type Auth struct {
	JWT JWT `yaml:"jwt"`
}

// JWT is about the tokens of users.
type JWT struct {
	// Lifetime is how long a user stays signed in.
	Lifetime time.Duration `yaml:"lifetime"`
	// Rotation is how long tokens are signed with one key. Those signed with
	// the key before are good until they expire.
	Rotation time.Duration `yaml:"rotation"`
}

// Person is a user of the building.
type Person struct {
	ID    string `yaml:"id"` // unique in the building, and never given to another
	Email string `yaml:"email"`
	Name  string `yaml:"name"`
	Role  string `yaml:"role"` // one of auth.Roles
	// OrganizationID bounds what the user sees; empty: the whole building.
	OrganizationID string `yaml:"organization_id"`
	Enabled        bool   `yaml:"enabled"`
	// PushTopic is where the push gateway reaches the user's devices; empty: as
	// push.topic says.
	PushTopic string `yaml:"push_topic"`
}

// defaults fills a user before the file is laid over it.
func (p *Person) defaults() { *p = Person{Role: string(auth.RoleMember), Enabled: true} }

// Organization is the one that a space names as its own; empty: none, then it
// belongs to the organization that has claimed the gateway.
func (s Space) Organization() string { return cmp.Or(s.OrganizationID, s.CustomerID) }

// SignInAdvice says why the users of the configuration cannot sign in, and what to do;
// empty: they can, or there are none.
func (c *Config) SignInAdvice() (seen, fix string) {
	if len(c.Users) == 0 || c.SMTP.URL != "" {
		return "", ""
	}
	return "there is no mail relay, and people sign in with one-time passwords that come by mail, so no user can sign in",
		"set smtp.url and smtp.from, or remove users"
}

// Server is where a relay listens and how it is spoken to. The configuration
// was checked.
func (s SMTP) Server() (address string, implicit, plain bool) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return "", false, false
	}
	port := "587"
	if implicit = u.Scheme == "smtps"; implicit {
		port = "465"
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)), implicit, !implicit && thisMachine(u.Hostname())
}

// thisMachine says whether a host is this one, whatever a name server says.
func thisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

func (r *reader) smtp(s SMTP) {
	if s.Password != "" && s.PasswordFile != "" {
		r.refuse("smtp.password_file", "and smtp.password are both there: keep one")
	}
	if s.Username == "" && (s.Password != "" || s.PasswordFile != "") {
		r.refuse("smtp.username", "is empty, and there is a password: name the user")
	}
	if s.URL == "" {
		return
	}
	u, err := url.Parse(s.URL)
	switch {
	case err == nil && u.User != nil:
		r.refuse("smtp.url", "holds credentials: write them as smtp.username and smtp.password_file")
		return
	case err != nil || !relayURL(u):
		r.refuse("smtp.url", "is not an address of a mail relay: want smtp://HOST[:PORT] or smtps://HOST[:PORT]")
		return
	case u.Scheme == "smtp" && thisMachine(u.Hostname()) && s.CAFile != "":
		r.refuse("smtp.ca_file", "is of no use with a relay on this machine: leave it out, or use smtps://")
	}
	if _, err := auth.ParseSender(s.From); err != nil || len(s.From) > 200 {
		r.refuse("smtp.from", "is %q: want a sender like Rooms <rooms@example.com>", short(s.From))
	}
}

func relayURL(u *url.URL) bool {
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "1"), 10, 16)
	return err == nil && port > 0 && u.Hostname() != "" && (u.Scheme == "smtp" || u.Scheme == "smtps") &&
		strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
}

func (r *reader) auth(a Auth) {
	span(r, "auth.jwt.lifetime", a.JWT.Lifetime, time.Minute, 31*24*time.Hour)
	span(r, "auth.jwt.rotation", a.JWT.Rotation, time.Hour, 366*24*time.Hour)
}

// maxUsers bounds the users of a building.
const maxUsers = 1000

func (r *reader) users(users []Person) {
	span(r, "users", len(users), 0, maxUsers)
	ids, emails := map[string]bool{}, map[string]bool{}
	for i, u := range users {
		key := fmt.Sprintf("users[%d]", i)
		if !isID(u.ID) || ids[u.ID] {
			r.refuse(key+".id", "is %q: want 1 to 64 of a-z A-Z 0-9 . _ -, each id once", short(u.ID))
		}
		email, err := auth.ParseEmail(u.Email)
		switch {
		case err != nil:
			r.refuse(key+".email", "is %q: want an address like name@example.com", short(u.Email))
		case emails[email]:
			r.refuse(key+".email", "is that of another user")
		}
		ids[u.ID], emails[email] = true, true
		if len(u.Name) > 200 {
			r.refuse(key+".name", "is too long: want at most 200 bytes")
		}
		r.choice(key+".role", u.Role, auth.Roles()...)
		r.organization(key, u.OrganizationID)
	}
}

// WithUsers are the users of the file and others beside them. The error is
// *Errors, with keys like "users[0].email" that count the others.
func (c *Config) WithUsers(others []Person) ([]Person, error) {
	all := append(slices.Clone(c.Users), others...)
	r := &reader{file: "what was added", origins: map[string]Origin{}}
	r.users(all)
	if len(r.problems) == 0 {
		return all, nil
	}
	for i := range r.problems {
		p := &r.problems[i]
		for at := range others {
			key := fmt.Sprintf("users[%d]", len(c.Users)+at)
			if rest, within := strings.CutPrefix(p.Key, key+"."); within {
				p.Message = strings.TrimPrefix(p.Message, p.Key+" ")
				p.Key = fmt.Sprintf("users[%d].%s", at, rest)
				break
			}
		}
	}
	return nil, &Errors{Problems: r.problems}
}

// organization refuses an id that is there and is none.
func (r *reader) organization(key, id string) {
	if id != "" && !auth.IsUUID(id) {
		r.refuse(key+".organization_id", "is %q: want a UUID in small letters", short(id))
	}
}
