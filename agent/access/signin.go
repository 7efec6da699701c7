package access

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/problem"
	"roomgate/cloud/guest"
	"roomgate/store"
)

// perNetwork bounds what comes from one network address: one-time passwords
// asked for, and wrong ones. Many people may be behind one.
var perNetwork = auth.Rate{Burst: 20, Every: 30 * time.Second}

// hostsOfNetwork is how many hosts of an IPv6 network may ask for as many: all of it have a bound, and one of them does
// not keep the others out.
const hostsOfNetwork = 8

// RequestOTP sends a one-time password to a user's address. Nothing tells
// whether the address is a user's: the same is written for a stranger, also
// his letter, which is thrown away when its turn comes. host is from where it is asked for, one address.
func (d *Directory) RequestOTP(ctx context.Context, email string, host netip.Prefix) error {
	address, err := auth.ParseEmail(email)
	if err != nil {
		return problem.New(problem.Invalid, "email", "%v", err)
	}
	if d.options.Mail == nil {
		return problem.New(problem.Unavailable, "", "this gateway has no mail relay, so nobody can sign in by e-mail: set smtp.url")
	}
	from := guest.Network(host.Addr())
	now, p := d.moment(), d.pair(address, from)
	wait, left := d.asked.Take(host, time.Now())
	if left {
		if wait, left = d.askedOf.Take(from, time.Now()); !left {
			d.asked.Return(host, 1, time.Now()) // he has asked for nothing
		}
	}
	code := auth.NewCode()
	letter := codeLetter(d.options.Title, p.id, address, code)
	if d.users.Load().signsIn(address, "") == nil {
		letter.Decoy = true
	}
	err = d.db.Update(ctx, func(tx *store.Tx) error {
		s, err := readStanding(tx, p)
		switch {
		case err != nil:
			return err
		case !left && !s.proven(p): // the others of his network do not keep him out
			return errNetwork(wait)
		}
		if wait, ok := s.issue(p, d.keys.Hash(p.id, code), now); !ok {
			return problem.TooOften("too many one-time passwords were sent to this address", wait)
		}
		if err := errors.Join(d.evict(tx, now), s.write(tx, p)); err != nil {
			return err
		}
		return d.options.Mail(tx, letter)
	})
	if err != nil {
		return err
	}
	d.options.Mailed()
	return nil
}

// CodeLetter is a letter with a one-time password.
type CodeLetter struct {
	Account           string // names its reader; of his letters only the last is sent
	To, Subject, Text string
	Decoy             bool          // nobody gets it: it is written so that a stranger costs the same
	Life              time.Duration // then it is of no use
}

// codeLetter is the letter with a one-time password. It is not in the subject,
// which relays log and locked telephones show.
func codeLetter(title, account, to, code string) CodeLetter {
	return CodeLetter{Account: account, To: to, Life: auth.CodeLife, Subject: "Your code to sign in at " + title, Text: fmt.Sprintf(`Your code to sign in at %s is

    %s

It works once, within %d minutes. Nobody will ever ask you for it.

If you did not ask for a code, you need not do anything: without it nobody can
sign in.
`, title, code, int(auth.CodeLife.Minutes()))}
}

// VerifyOTP takes a one-time password and returns a token of the user with the address in an
// organization, or with an empty id of the only one: who has several has to name one. Whatever
// else is wrong, the answer is the same.
func (d *Directory) VerifyOTP(ctx context.Context, email, otp string, from netip.Prefix, organizationID string) (token string, user User, err error) {
	address, err := auth.ParseEmail(email)
	if err != nil {
		return "", user, problem.New(problem.Invalid, "email", "%v", err)
	}
	code, ok := auth.ParseCode(otp)
	if !ok {
		return "", user, problem.New(problem.Invalid, "otp", "is not a one-time password: want six digits")
	}
	right, err := d.tryCode(ctx, d.pair(address, from), from, code)
	if err != nil {
		return "", user, err
	}
	u := d.users.Load().signsIn(address, organizationID)
	if several := d.users.Load().several(address); right && organizationID == "" && several != nil {
		return "", user, problem.New(problem.Invalid, "organization_id", "is missing, and this address is of a user in several organizations: ask for a new code, and send one of %s", strings.Join(several, ", "))
	}
	if !right || u == nil {
		return "", user, problem.New(problem.Unauthorized, "otp", "is wrong, used or too old: correct it, or ask for a new one")
	}
	token, _, err = d.signing.sign(auth.Token{Kind: KindUser, Subject: u.ID, Name: u.Name, Stamp: u.stamp, Life: d.options.Lifetime})
	if err != nil {
		return "", user, err
	}
	d.log.Info("user signed in", "user", u.ID)
	return token, *u, nil
}

// tryCode tries a one-time password. That it is used up is on the disk before
// anybody is let in. A network that has asked for none has none to try, and is
// slowed down; one that has is bounded by its tries alone, so that the others of
// the network do not keep him out.
func (d *Directory) tryCode(ctx context.Context, p pair, from netip.Prefix, code string) (right bool, err error) {
	now, exhausted := d.moment(), false
	err = d.db.Update(ctx, func(tx *store.Tx) error {
		s, err := readStanding(tx, p)
		if err != nil {
			return err
		}
		row, hash := &s.pair, d.keys.Hash(p.id, code)
		if !row.Live(now) && s.whole.Live(now) { // asked for before each network had its own
			row, hash = &s.whole, d.keys.Hash(p.account, code)
		}
		if !row.Live(now) {
			if wait, ok := d.tried.Take(from, time.Now()); !ok {
				return problem.TooOften("too many wrong one-time passwords came from this network address", wait)
			}
			return nil
		}
		last := row.Tries == auth.CodeTries-1
		if right = row.Try(hash, now); right {
			s.whole.Prove(p.network)
		} else {
			exhausted = last
			d.tried.Take(from, time.Now())
		}
		return s.write(tx, p)
	})
	if exhausted && err == nil {
		d.log.Warn("a one-time password was tried too often and is void", "account", p.account)
	}
	return right && err == nil, err
}
