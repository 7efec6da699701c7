package webhook

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

// Create registers a webhook. A secret that had to be made is returned this
// once. A refusal is problem.Invalid with its field, or problem.Full.
func (ds *Dispatcher) Create(ctx context.Context, r Request) (w Info, secret string, err error) {
	if err := ds.turn.Lock(ctx); err != nil {
		return w, "", err
	}
	defer ds.turn.Unlock()
	made, secrets, err := New(strings.ToLower(ulid.Make().String()), r, ds.policy, ds.clock.Now())
	if err != nil {
		return w, "", err
	}
	if err := ds.organization(r.OrganizationID); isNotFound(err) {
		return w, "", problem.New(problem.Invalid, "organization_id", "is not an organization of this gateway: create it first")
	} else if err != nil {
		return w, "", err
	}
	if all, own := len(ds.List("")), len(ds.List(r.OrganizationID)); all >= maxWebhooks || own >= maxWebhooksOfOrg {
		return w, "", problem.New(problem.Full, "", "the gateway has %d webhooks of at most %d and the organization %d of %d: delete one that is not used",
			all, maxWebhooks, own, maxWebhooksOfOrg)
	}
	if err := ds.fanOutAll(ctx); err != nil {
		return w, "", err
	}
	s, err := storedWebhook{Webhook: made, Secrets: secrets}.sealAddress(ds.keys).sealSecrets(ds.keys)
	if err != nil {
		return w, "", err
	}
	err = ds.db.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(s.keep(tx), logCursor.Put(tx, ds.cursor),
			eventlog.Audit(ctx, tx, map[string]any{"webhook_id": made.ID, "organization_id": made.OrganizationID}))
	})
	if err != nil {
		return w, "", err
	}
	ds.saved = ds.cursor
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.byID[made.ID] = &hook{storedWebhook: s}
	if r.Secret == "" {
		secret = string(secrets.Current)
	}
	return ds.byID[made.ID].info(ds.clock.Now()), secret, nil
}

// Change changes the address, the events or the state of a webhook. Earlier
// deliveries keep the events that they have. A webhook that is enabled again gets
// the deliveries that still wait for it.
func (ds *Dispatcher) Change(ctx context.Context, id string, c Change) (Info, error) {
	return ds.edit(ctx, id, func(s storedWebhook) (storedWebhook, error) {
		if s.URL == "" && c.URL == nil {
			return s, problem.New(problem.NotNow, "url", "was stored under another device secret: give it with this change")
		}
		changed, err := s.With(c, ds.policy, ds.clock.Now())
		if err != nil {
			return s, err
		}
		s.Webhook = changed
		if c.State != nil && *c.State == Active {
			err = s.readable("state")
		}
		if c.URL != nil {
			s = s.sealAddress(ds.keys)
		}
		return s, err
	})
}

// Rotate gives a webhook another secret; an empty one is made and returned this
// once. The old one signs beside it for the overlap, 0 to 30 days, which needs a
// trusted clock: else it is problem.NotNow.
func (ds *Dispatcher) Rotate(ctx context.Context, id string, secret Secret, overlap time.Duration) (w Info, made string, err error) {
	if overlap != 0 && ds.clock.Trust() != clock.Trusted {
		return w, "", problem.New(problem.NotNow, "overlap", "cannot be measured while the clock is not trusted: wait until it is, or rotate with an overlap of 0")
	}
	if secret == "" {
		secret = NewSecret()
		made = string(secret)
	}
	now := ds.clock.Now()
	w, err = ds.edit(ctx, id, func(s storedWebhook) (storedWebhook, error) {
		if s.Secrets.Current == "" { // there is none to sign beside it
			overlap = 0
		}
		secrets, err := s.Secrets.Rotate(secret, overlap, now)
		if err != nil {
			return s, err
		}
		s.Secrets, s.UpdatedAt = secrets, stamp(now)
		return s.sealSecrets(ds.keys)
	})
	if err != nil {
		made = ""
	}
	return w, made, err
}

// edit stores what edit makes of a webhook and then lets it take effect, without losing what an attempt has found out in between.
func (ds *Dispatcher) edit(ctx context.Context, id string, edit func(storedWebhook) (storedWebhook, error)) (w Info, err error) {
	if err := ds.turn.Lock(ctx); err != nil {
		return w, err
	}
	defer ds.turn.Unlock()
	if _, err := ds.Get(id); err != nil {
		return w, err
	}
	if err := ds.fanOutAll(ctx); err != nil {
		return w, err
	}
	ds.mu.Lock()
	owner := ds.byID[id]
	before := owner.storedWebhook
	ds.mu.Unlock()
	after, err := edit(before)
	if err != nil {
		return w, err
	}
	err = ds.db.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(after.keep(tx), logCursor.Put(tx, ds.cursor), eventlog.Audit(ctx, tx, nil))
	})
	if err != nil {
		return w, err
	}
	ds.saved = ds.cursor
	ds.mu.Lock()
	defer ds.mu.Unlock()
	owner.Secrets, owner.Sealed, owner.Plain, owner.SealedURL = after.Secrets, after.Sealed, after.Plain, after.SealedURL
	owner.URL, owner.Events, owner.UpdatedAt = after.URL, after.Events, after.UpdatedAt
	if after.State != before.State {
		owner.State, owner.Reason = after.State, after.Reason
	}
	ds.dirty[id] = true // an attempt may have found out something meanwhile
	owner.rest, owner.failures = time.Time{}, 0
	ds.due.Wake()
	ds.save.Wake()
	return owner.info(ds.clock.Now()), nil
}

func isNotFound(err error) bool {
	e := problem.As(err)
	return e != nil && e.Code == problem.NotFound
}

// Delete ends a webhook with all that waits for it and its log.
func (ds *Dispatcher) Delete(ctx context.Context, id string) error {
	if err := ds.turn.Lock(ctx); err != nil {
		return err
	}
	defer ds.turn.Unlock()
	w, err := ds.Get(id)
	if err != nil {
		return err
	}
	prefix := deliveryKey(id, "")
	err = ds.db.Update(ctx, func(tx *store.Tx) error {
		for key := range deliveries.From(tx, prefix) {
			if !strings.HasPrefix(key, prefix) {
				break
			}
			if err := deliveries.Delete(tx, key); err != nil {
				return err
			}
		}
		return errors.Join(webhooks.Delete(tx, id), eventlog.Audit(ctx, tx, map[string]any{"host": hostOf(w.URL)}))
	})
	if err != nil {
		return err
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	delete(ds.byID, id)
	delete(ds.dirty, id)
	mine := func(key string) bool { return strings.HasPrefix(key, prefix) }
	maps.DeleteFunc(ds.unsaved, func(key string, _ Delivery) bool { return mine(key) })
	maps.DeleteFunc(ds.erase, func(key string, _ bool) bool { return mine(key) })
	return nil
}
