package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/cloudconfig"
	"roomgate/agent/edge"
	"roomgate/agent/message/book"
	"roomgate/agent/rule/engine"
	"roomgate/agent/schedule"
	"roomgate/agent/site"
	"roomgate/agent/unlock"
	"roomgate/agent/webhook"
	"roomgate/store"
)

// SupportView is what a support bundle needs to know of the building.
type SupportView struct {
	Tables []store.Count `json:"tables"`
	// Private are words that must not be in a bundle: names, titles, addresses,
	// links and secrets that the database knows.
	Private []string `json:"private"`
}

// Support returns what a support bundle needs. It reads the whole database.
func (a *Agent) Support() (SupportView, error) { return supportOf(a.db, a.keys) }

// SupportStopped is Support of a gateway that does not run, with its data
// folder, which it does not change. The database is sound: store.Verify comes
// first.
func SupportStopped(dir string) (v SupportView, err error) {
	secret, err := os.ReadFile(filepath.Join(dir, SecretFile))
	if err != nil {
		return v, fmt.Errorf("read the device secret: %w", err)
	}
	keys, err := auth.NewKeys(secret)
	if err != nil {
		return v, err
	}
	err = store.Read(filepath.Join(dir, Database), func(db *store.DB) (err error) {
		v, err = supportOf(db, keys)
		return err
	})
	return v, err
}

func supportOf(db *store.DB, keys *auth.Keys) (v SupportView, err error) {
	if v.Tables, err = db.Census(); err != nil {
		return v, err
	}
	err = db.View(func(tx *store.Tx) error {
		v.Private = slices.Concat(schedule.Words(tx, keys), book.Words(tx, keys), knownWords(tx, keys), webhook.Words(tx, keys), site.Words(tx, keys), cloudconfig.Words(tx, keys))
		return tx.Err()
	})
	slices.Sort(v.Private)
	v.Private = slices.DeleteFunc(slices.Compact(v.Private), func(w string) bool { return w == "" })
	return v, err
}

// knownWords are names of what was made at run time.
func knownWords(tx *store.Tx, keys *auth.Keys) []string {
	return slices.Concat(access.Words(tx), engine.Words(tx, keys), unlock.Words(tx), edge.Words(tx))
}
