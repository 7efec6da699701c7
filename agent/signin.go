package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/auth"
	"roomgate/agent/devicesecret"
	"roomgate/agent/loop"
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

// signIn is what signing in needs.
type signIn struct {
	keys    *auth.Keys
	signer  atomic.Pointer[auth.Signer]
	users   users
	changed loop.Broadcast // a key or a user lost access

	asked, tried auth.Limiter[netip.Prefix]
	mailbox      mailbox

	change sync.Mutex
	ring   []storedSigningKey // under change
}

// loadSignIn reads who may sign in and what is under way.
func (a *Agent) loadSignIn(ctx context.Context, o Options) error {
	var err error
	if a.signIn.keys, err = devicesecret.Open(o.DataDir, o.Hardware, a.log); err != nil {
		return err
	}
	a.signIn.asked.Rate, a.signIn.tried.Rate = perNetwork, perNetwork
	a.signIn.mailbox.dial, a.signIn.mailbox.posted = o.MailDial, loop.NewSignal()
	if err := errors.Join(a.loadUsers(), a.loadSigner(ctx)); err != nil {
		return err
	}
	err = a.bearOrganizations(ctx)
	if errors.Is(err, store.ErrFull) {
		a.log.Error("organizations of the configuration cannot be stored, the next start tries again: free space on the disk", "error", err)
		return nil
	}
	return err
}

// runSignIn sends the mail and changes the signing key until ctx ends.
func (a *Agent) runSignIn(ctx context.Context) error {
	var loops errgroup.Group
	loops.Go(func() error { return a.runMailbox(ctx) })
	loops.Go(func() error { return a.rotate(ctx) })
	return loops.Wait()
}

// RequestOTP sends a one-time password to a user's address. Nothing tells
// whether the address is a user's: the same is written for a stranger, also
// his letter, which is thrown away when its turn comes.
func (a *Agent) RequestOTP(ctx context.Context, email string, from netip.Prefix) error {
	address, err := auth.ParseEmail(email)
	if err != nil {
		return refuse(Invalid, "email", "%v", err)
	}
	if a.config.SMTP.URL == "" {
		return refuse(Unavailable, "", "this gateway has no mail relay, so nobody can sign in by e-mail: set smtp.url")
	}
	now := a.moment()
	if wait, ok := a.signIn.asked.Take(from, now); !ok {
		return problem.TooOften("too many one-time passwords were asked for from this network address", wait)
	}
	account, code := a.signIn.keys.Account(address), auth.NewCode()
	user := a.signIn.users.known.Load().byEmail[address]
	mail := a.codeLetter(address, code)
	if user == nil || !user.Enabled {
		mail.Decoy = 1
	}
	var wait time.Duration
	room, issued := false, false
	err = a.db.Update(ctx, func(tx *store.Tx) (err error) {
		room, err = a.changeAccount(tx, account, now, func(c *auth.Account) {
			wait, issued = c.Issue(a.signIn.keys.Hash(account, code), now)
		})
		if err != nil || !issued {
			return err
		}
		return a.putLetter(tx, codePrefix+account, mail, auth.CodeLife, now)
	})
	switch {
	case err != nil:
		return err
	case !room:
		return errAccounts()
	case !issued:
		return problem.TooOften("too many one-time passwords were sent to this address", wait)
	}
	a.signIn.mailbox.posted.Wake()
	return nil
}

// codeLetter is the letter with a one-time password. It is not in the subject,
// which relays log and locked telephones show.
func (a *Agent) codeLetter(to, code string) letter {
	house := a.config.Gateway.Name
	if house == "" {
		house = a.config.Gateway.ID
	}
	return letter{To: to, Subject: "Your code to sign in at " + house, Text: fmt.Sprintf(`Your code to sign in at %s is

    %s

It works once, within %d minutes. Nobody will ever ask you for it.

If you did not ask for a code, you need not do anything: without it nobody can
sign in.
`, house, code, int(auth.CodeLife.Minutes()))}
}

// VerifyOTP takes a one-time password and returns a token. Whatever is wrong,
// the answer is the same.
func (a *Agent) VerifyOTP(ctx context.Context, email, otp string, from netip.Prefix) (token string, user User, err error) {
	address, err := auth.ParseEmail(email)
	if err != nil {
		return "", user, refuse(Invalid, "email", "%v", err)
	}
	code, ok := auth.ParseCode(otp)
	if !ok {
		return "", user, refuse(Invalid, "otp", "is not a one-time password: want six digits")
	}
	now := a.moment()
	if wait, ok := a.signIn.tried.Take(from, now); !ok {
		return "", user, problem.TooOften("too many wrong one-time passwords came from this network address", wait)
	}
	right, err := a.tryCode(ctx, a.signIn.keys.Account(address), code, now)
	if err != nil {
		return "", user, err
	}
	u := a.signIn.users.known.Load().byEmail[address]
	if !right || u == nil || !u.Enabled {
		return "", user, refuse(Unauthorized, "otp", "is wrong, used or too old: correct it, or ask for a new one")
	}
	a.signIn.tried.Return(from, now)
	token, _, err = a.sign(auth.Token{Kind: KindUser, Subject: u.ID, Name: u.Name, Stamp: u.stamp, Life: a.config.Auth.JWT.Lifetime})
	if err != nil {
		return "", user, err
	}
	a.log.Info("user signed in", "user", u.ID)
	return token, *u, nil
}

// tryCode tries a one-time password. That it is used up is on the disk before
// anybody is let in.
func (a *Agent) tryCode(ctx context.Context, account, code string, now auth.Moment) (right bool, err error) {
	room, exhausted := false, false
	err = a.db.Update(ctx, func(tx *store.Tx) (err error) {
		room, err = a.changeAccount(tx, account, now, func(c *auth.Account) {
			last := c.Tries == auth.CodeTries-1
			right = c.Try(a.signIn.keys.Hash(account, code), now)
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
		a.log.Warn("a one-time password was tried too often and is void", "account", account)
	}
	return right, nil
}

// changeAccount changes how an address stands. One that is not known is made,
// so that it costs the same; ok is false if there is no room for it.
func (a *Agent) changeAccount(tx *store.Tx, id string, now auth.Moment, change func(*auth.Account)) (ok bool, err error) {
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
