// Package access says who may come in: API keys, users who sign in with a
// one-time password, the tokens that both get, and the organizations that bound
// what they see.
package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/auth"
	"roomgate/agent/config"
	"roomgate/agent/loop"
	"roomgate/cloud/guest"
	"roomgate/store"
)

// Options are what a directory is opened with.
type Options struct {
	DB          *store.DB
	Keys        *auth.Keys         // made of the device secret
	Moment      func() auth.Moment // now, as far as it can be known
	MomentOfRun func() auth.Moment // the same without the wall clock, which what this run of the gateway made does not need; nil: Moment
	Log         *slog.Logger

	Gateway  string        // the gateway's id, for which tokens are good
	Title    string        // what letters call the gateway
	Lifetime time.Duration // of a user's token
	Rotation time.Duration // how long a key signs tokens

	SystemKey     string          // the secret of the system key; empty: the stored one, or a new one
	People        []config.Person // who may sign in, as long as nothing else is staged
	Organizations []string        // ids that the configuration names; one that is not stored is made

	// Holdings says in words what else an organization has, as "2 webhooks"; nil: nothing.
	Holdings func(organizationID string) []string

	// Mail queues the letter with a one-time password in the transaction that
	// stores the password; nil: there is no mail relay, and nobody can sign in.
	Mail func(*store.Tx, CodeLetter) error
	// Mailed is called when that transaction is committed; it must not wait.
	Mailed func()
}

// Directory knows who may come in.
type Directory struct {
	options Options
	db      *store.DB
	keys    *auth.Keys
	moment  func() auth.Moment
	log     *slog.Logger

	keyring keyring
	users   atomic.Pointer[roster]
	turn    sync.Mutex // of who changes the users
	signing signing    // of tokens
	ended   ended      // of them

	asked, tried guest.Tries[netip.Prefix] // by host, and by network
	askedOf      guest.Tries[netip.Prefix] // as asked, of all hosts of a network
	// Console has the codes for the console.
	Console *ConsoleCodes
	// Mails says whether one-time passwords can be sent.
	Mails   bool
	changed loop.Broadcast // a key or a user lost access
}

// Open reads what is stored. On a full disk it goes on with what it could not
// store, so that the building opens.
func Open(ctx context.Context, o Options) (*Directory, error) {
	given := o.SystemKey
	o.SystemKey = "" // is needed once
	if o.MomentOfRun == nil {
		o.MomentOfRun = o.Moment
	}
	d := &Directory{options: o, db: o.DB, keys: o.Keys, moment: o.Moment, log: o.Log,
		asked:   guest.Tries[netip.Prefix]{Burst: perNetwork.Burst, Every: perNetwork.Every},
		tried:   guest.Tries[netip.Prefix]{Burst: perNetwork.Burst, Every: perNetwork.Every},
		askedOf: guest.Tries[netip.Prefix]{Burst: hostsOfNetwork * perNetwork.Burst, Every: perNetwork.Every / hostsOfNetwork},
		Mails:   o.Mail != nil}
	d.keyring.db, d.keyring.moment, d.keyring.log = o.DB, o.Moment, o.Log
	d.signing.options, d.signing.signOut = o, d.changed.Wake
	d.Console = newConsoleCodes(o, &d.signing)
	if err := d.keyring.load(ctx, given); err != nil {
		return nil, fmt.Errorf("load the keys: %w", err)
	}
	if err := errors.Join(d.loadUsers(o.People), d.signing.load(ctx), d.ended.load(d.db)); err != nil {
		return nil, fmt.Errorf("prepare signing in: %w", err)
	}
	err := d.db.Update(ctx, func(tx *store.Tx) error { return ensureOrganizations(tx, o.Organizations) })
	if store.Unstored(err) {
		d.log.Error("organizations of the configuration cannot be stored, the next start tries again: free space on the disk", "error", err)
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("store the organizations of the configuration: %w", err)
	}
	return d, nil
}

// Run stores when keys were used and changes the signing key until ctx ends.
func (d *Directory) Run(ctx context.Context) error {
	var loops errgroup.Group
	loops.Go(func() error { return d.keyring.keepLastUse(ctx) })
	loops.Go(func() error { return d.signing.run(ctx) })
	return loops.Wait()
}

// Changed returns a channel that is closed when a key was revoked or a user lost
// a right, for those who cannot wait until they ask Valid again. An expiry
// closes nothing.
func (d *Directory) Changed() <-chan struct{} { return d.changed.Wait() }
