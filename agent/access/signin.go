package access

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/problem"
	"roomgate/store"
)

// maxAccounts bounds the addresses whose one-time passwords and tries are
// counted, those of strangers included. When so many were tried within hours,
// further ones wait.
const maxAccounts = 1000

// perNetwork bounds what comes from one network address: one-time passwords
// asked for, and wrong ones. Many people may be behind one.
var perNetwork = auth.Rate{Burst: 20, Every: 30 * time.Second}

// RequestOTP sends a one-time password to a user's address. Nothing tells
// whether the address is a user's: the same is written for a stranger, also
// his letter, which is thrown away when its turn comes.
func (d *Directory) RequestOTP(ctx context.Context, email string, from netip.Prefix) error {
	address, err := auth.ParseEmail(email)
	if err != nil {
		return problem.New(problem.Invalid, "email", "%v", err)
	}
	if d.options.Mail == nil {
		return problem.New(problem.Unavailable, "", "this gateway has no mail relay, so nobody can sign in by e-mail: set smtp.url")
	}
	now := d.moment()
	if wait, ok := d.asked.Take(from, now); !ok {
		return problem.TooOften("too many one-time passwords were asked for from this network address", wait)
	}
	account, code := d.keys.Account(address), auth.NewCode()
	user := d.users.Load().byEmail[address]
	letter := codeLetter(d.options.Title, account, address, code)
	if user == nil || !user.Enabled {
		letter.Decoy = true
	}
	var wait time.Duration
	room, issued := false, false
	err = d.db.Update(ctx, func(tx *store.Tx) (err error) {
		room, err = changeAccount(tx, account, now, func(c *auth.Account) {
			wait, issued = c.Issue(d.keys.Hash(account, code), now)
		})
		if err != nil || !issued {
			return err
		}
		return d.options.Mail(tx, letter)
	})
	switch {
	case err != nil:
		return err
	case !room:
		return errAccounts()
	case !issued:
		return problem.TooOften("too many one-time passwords were sent to this address", wait)
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

// VerifyOTP takes a one-time password and returns a token. Whatever is wrong,
// the answer is the same.
func (d *Directory) VerifyOTP(ctx context.Context, email, otp string, from netip.Prefix) (token string, user User, err error) {
	address, err := auth.ParseEmail(email)
	if err != nil {
		return "", user, problem.New(problem.Invalid, "email", "%v", err)
	}
	code, ok := auth.ParseCode(otp)
	if !ok {
		return "", user, problem.New(problem.Invalid, "otp", "is not a one-time password: want six digits")
	}
	now := d.moment()
	if wait, ok := d.tried.Take(from, now); !ok {
		return "", user, problem.TooOften("too many wrong one-time passwords came from this network address", wait)
	}
	right, err := d.tryCode(ctx, d.keys.Account(address), code, now)
	if err != nil {
		return "", user, err
	}
	u := d.users.Load().byEmail[address]
	if !right || u == nil || !u.Enabled {
		return "", user, problem.New(problem.Unauthorized, "otp", "is wrong, used or too old: correct it, or ask for a new one")
	}
	d.tried.Return(from, now)
	token, _, err = d.signing.sign(auth.Token{Kind: KindUser, Subject: u.ID, Name: u.Name, Stamp: u.stamp, Life: d.options.Lifetime})
	if err != nil {
		return "", user, err
	}
	d.log.Info("user signed in", "user", u.ID)
	return token, *u, nil
}

// tryCode tries a one-time password. That it is used up is on the disk before
// anybody is let in.
func (d *Directory) tryCode(ctx context.Context, account, code string, now auth.Moment) (right bool, err error) {
	room, exhausted := false, false
	err = d.db.Update(ctx, func(tx *store.Tx) (err error) {
		room, err = changeAccount(tx, account, now, func(c *auth.Account) {
			last := c.Tries == auth.CodeTries-1
			right = c.Try(d.keys.Hash(account, code), now)
			exhausted = last && !right
		})
		return err
	})
	switch {
	case err != nil:
		return false, err
	case !room:
		return false, errAccounts()
	case exhausted:
		d.log.Warn("a one-time password was tried too often and is void", "account", account)
	}
	return right, nil
}

// changeAccount changes how an address stands. One that is not known is made,
// so that it costs the same; ok is false if there is no room for it.
func changeAccount(tx *store.Tx, id string, now auth.Moment, change func(*auth.Account)) (ok bool, err error) {
	c, err := accounts.Get(tx, id)
	if errors.Is(err, store.ErrNotFound) {
		if ok, err = roomForAccount(tx, now); !ok {
			return false, err
		}
	}
	if err != nil {
		return false, err
	}
	change(&c)
	return true, accounts.Put(tx, id, c)
}

// roomForAccount forgets, when there are too many, those that are as if they
// had never been seen. Of those whose age cannot be told it counts from now.
func roomForAccount(tx *store.Tx, now auth.Moment) (ok bool, err error) {
	if accounts.Len(tx) < maxAccounts {
		return true, nil
	}
	var idle []string
	anchored := map[string]auth.Account{}
	for id, c := range accounts.All(tx) {
		if c.Idle(now) {
			idle = append(idle, id)
		} else if c.Anchor(now) {
			anchored[id] = c
		}
	}
	for _, id := range idle {
		err = errors.Join(err, accounts.Delete(tx, id))
	}
	for id, c := range anchored {
		err = errors.Join(err, accounts.Put(tx, id, c))
	}
	return len(idle) > 0, err
}

// errAccounts refuses an address for which there is no room.
func errAccounts() error {
	return problem.TooOften("too many addresses were tried", auth.CodeRate.Every)
}
