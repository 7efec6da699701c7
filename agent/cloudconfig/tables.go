package cloudconfig

import (
	"errors"

	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/rule/engine"
	"roomgate/agent/site"
	"roomgate/agent/unlock"
	"roomgate/store"
)

// storedConfig is what of the building is the cloud's. Its spaces and devices
// are among the overrides of the site.
type storedConfig struct {
	Revision uint64 `json:"revision"`
	Message  string `json:"message"` // that brought it
	// Signed is the SHA-256 of the last that was signed, and SignedRevision its
	// revision; empty: none was. They stay when another one is applied.
	Signed         string   `json:"signed,omitempty"`
	SignedRevision uint64   `json:"signed_revision,omitempty"`
	Keys           []string `json:"keys,omitempty"`
	Codes          []string `json:"codes,omitempty"` // by their keys in the table
	Rules          []string `json:"rules,omitempty"`
	// Doubted are those of Rules that came without a signature; nil: an earlier version has stored the row.
	Doubted *[]string    `json:"doubted_rules,omitempty"`
	Users   []downUser   `json:"users,omitempty"`
	Update  string       `json:"update,omitempty"` // the URL of a bundle; in a row of an earlier version only, else it is sealed
	Sealed  sealedConfig `json:"sealed,omitzero"`
	Spread  int          `json:"reconnect_spread_s,omitempty"` // 0: what is configured
	// Again says that the same revision is applied once more: a repair may have lost what it brought.
	Again bool `json:"again,omitempty"`
}

// doubted are the rules that came without a signature. In a row of an earlier version, before the first that was
// signed, that is all of them.
func (c storedConfig) doubted() []string {
	switch {
	case c.Doubted != nil:
		return *c.Doubted
	case c.Signed == "":
		return c.Rules
	}
	return []string{}
}

// table holds which keys, codes, rules and users are the cloud's, in one row.
var table = store.NewTable[storedConfig]("cloud-config")

// current is the key of the row.
const current = "current"

// refusedLast is among the cursors the SHA-256 of the configuration that was refused last and why, its first bytes: the row of
// the table may be large.
const refusedLast = eventlog.Cursor("refused-config")

// Buckets names the table in the store.
func Buckets() []string { return []string{table.Bucket()} }

// Forget makes the row that of another gateway, which hears revisions from the first.
func Forget(tx *store.Tx) (err error) {
	for key, c := range table.All(tx) {
		c.Revision, c.Message, c.Update, c.Spread = 0, "", "", 0
		c.Sealed.Update = nil
		doubted := c.doubted() // before what it goes by
		c.Doubted = &doubted
		c.Signed, c.SignedRevision = "", 0
		err = errors.Join(err, table.Put(tx, key, c))
	}
	return err
}

// Mend lets the configuration of the cloud, which its broker keeps, be applied once
// more as it is, if a repair may have lost what it brought.
func Mend(tx *store.Tx, r store.Repair) error {
	doubtful := false
	for _, name := range []string{table.Bucket(), access.KeyBucket(), unlock.CodeBucket(), engine.RuleBucket(), site.OverrideBucket(), device.SettingsBucket(), access.UserBucket()} {
		doubtful = doubtful || r.Doubtful(name)
	}
	c, err := table.Get(tx, current)
	if !doubtful || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	c.Again = true
	return table.Put(tx, current, c)
}

// stored reads the row; it is empty before the cloud has sent anything.
func stored(db *store.DB, keys *auth.Keys) (c storedConfig, err error) {
	err = db.View(func(tx *store.Tx) (err error) { c, err = readRow(tx, keys); return err })
	return c, err
}
