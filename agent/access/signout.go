package access

import (
	"context"
	"errors"
	"sync"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/store"
)

// maxEnded bounds the sessions that were ended and have not expired. Each needed a code
// that was mailed to somebody, or printed at the gateway.
const maxEnded = 4096

// ended are the tokens that somebody has signed out with. They are refused until they
// expire, also after a restart.
type ended struct {
	mu sync.RWMutex
	at map[string]auth.Moment // by the id of the token
}

func (e *ended) has(token string) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	_, has := e.at[token]
	return has
}

// load reads which tokens were ended.
func (e *ended) load(db *store.DB) error {
	e.at = map[string]auth.Moment{}
	return db.View(func(tx *store.Tx) error {
		for id, at := range endedRows.All(tx) {
			e.at[id] = at
		}
		return nil
	})
}

// SignOutSession ends the session that somebody came with, and no other one. It ends at
// once, also where the disk takes nothing; the error says that a restart forgets it then.
// The error is a *problem.Error for who came with a key, or with a token that one has
// bought: his key is revoked instead.
func (d *Directory) SignOutSession(ctx context.Context, p Principal) error {
	if p.token == nil || p.Kind != KindUser && p.Kind != KindConsole {
		return problem.New(problem.NotNow, "", "a key has no session to sign out of: revoke the key instead, which ends its tokens")
	}
	t, err := d.signing.verify(*p.token)
	if err != nil {
		return tokenError(err)
	}
	now, e := d.moment(), &d.ended
	e.mu.Lock()
	defer e.mu.Unlock()
	over := e.over(now, d.signing.longest())
	if len(e.at)-len(over) >= maxEnded {
		return problem.New(problem.Full, "", "%d sessions were ended and have not expired, the most that a gateway keeps: sign everybody out", maxEnded)
	}
	err = d.db.Update(ctx, func(tx *store.Tx) error {
		for _, id := range over {
			if err := endedRows.Delete(tx, id); err != nil {
				return err
			}
		}
		return errors.Join(endedRows.Put(tx, t.ID, now), eventlog.Audit(ctx, tx, nil))
	})
	if err != nil && !store.Unstored(err) {
		return err
	}
	if err == nil {
		for _, id := range over {
			delete(e.at, id)
		}
	}
	e.at[t.ID] = now
	d.changed.Wake()
	return err
}

// over are the tokens that have expired since they were ended.
func (e *ended) over(now auth.Moment, longest time.Duration) (ids []string) {
	for id, at := range e.at {
		if age, known := now.Since(at); known && age >= longest {
			ids = append(ids, id)
		}
	}
	return ids
}

// forget drops what was ended, once no token of before is good.
func (e *ended) forget(ctx context.Context, db *store.DB) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := db.Update(ctx, func(tx *store.Tx) error {
		for id := range e.at {
			if err := endedRows.Delete(tx, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		clear(e.at)
	}
	return err
}
