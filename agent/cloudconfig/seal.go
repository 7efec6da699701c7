package cloudconfig

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"

	"roomgate/agent/auth"
	"roomgate/store"
)

// The sealed parts of a configuration of the cloud are bound to these names.
const (
	sealedUpdate = "cloud-config/update"
	sealedTopics = "cloud-config/topics"
)

// sealedConfig is what of a configuration of the cloud somebody could use who reads
// it, encrypted under the device secret: the URL of a bundle may hold a token, and
// who knows a topic at the push gateway may be able to read it.
type sealedConfig struct {
	Update []byte `json:"update_sealed,omitempty"`
	Topics []byte `json:"topics_sealed,omitempty"` // by user id
}

// put stores the configuration, without what is sealed.
func (c storedConfig) put(tx *store.Tx, keys *auth.Keys) error {
	topics := map[string]string{}
	c.Users = slices.Clone(c.Users)
	for i := range c.Users {
		if u := &c.Users[i]; u.PushTopic != "" {
			topics[u.ID], u.PushTopic = u.PushTopic, ""
		}
	}
	if c.Update != "" {
		c.Sealed.Update = keys.Seal(sealedUpdate, []byte(c.Update))
		c.Update = ""
	}
	if len(topics) > 0 {
		text, err := json.Marshal(topics)
		if err != nil {
			return err
		}
		c.Sealed.Topics = keys.Seal(sealedTopics, text)
	}
	return table.Put(tx, current, c)
}

// plain says that an earlier version has stored as it is what is sealed now.
func (c storedConfig) plain() bool {
	return c.Update != "" || slices.ContainsFunc(c.Users, func(u downUser) bool { return u.PushTopic != "" })
}

// readRow reads the configuration of the cloud; none is none. A part that was sealed under
// another secret is left out and kept in case that secret comes back; the cloud's
// configuration is then applied once more when its broker sends it.
func readRow(tx *store.Tx, keys *auth.Keys) (c storedConfig, err error) {
	c, err = table.Get(tx, current)
	if errors.Is(err, store.ErrNotFound) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if c.open(keys) != nil {
		c.Again = true
	}
	return c, nil
}

// open reads what is sealed.
func (c *storedConfig) open(keys *auth.Keys) error {
	var lost error
	if len(c.Sealed.Update) > 0 {
		text, err := keys.Open(sealedUpdate, c.Sealed.Update)
		c.Update, lost = string(text), err
	}
	if len(c.Sealed.Topics) == 0 {
		return lost
	}
	text, err := keys.Open(sealedTopics, c.Sealed.Topics)
	if err != nil {
		return errors.Join(lost, err)
	}
	topics := map[string]string{}
	err = json.Unmarshal(text, &topics)
	for i, u := range c.Users {
		if topic, ok := topics[u.ID]; ok {
			c.Users[i].PushTopic = topic
		}
	}
	return errors.Join(lost, err)
}

// Seal seals what an earlier version has stored as it is. On a full disk
// the next start does it.
func Seal(ctx context.Context, db *store.DB, keys *auth.Keys, log *slog.Logger) error {
	var c storedConfig
	err := db.View(func(tx *store.Tx) (err error) { c, err = table.Get(tx, current); return err })
	if err != nil || !c.plain() {
		return nil // a row that cannot be read is told of by who needs it
	}
	err = db.Update(ctx, func(tx *store.Tx) error { return c.put(tx, keys) })
	if errors.Is(err, store.ErrFull) {
		log.Error("cannot seal what the cloud manages, the next start tries again: free space on the disk", "error", err)
		return nil
	}
	return err
}

// Words are those of the cloud's configuration that no support bundle may have.
func Words(tx *store.Tx, keys *auth.Keys) (words []string) {
	c, err := readRow(tx, keys)
	if err != nil {
		return nil
	}
	words = append(words, c.Update)
	for _, u := range c.Users {
		words = append(words, u.PushTopic, u.Name, u.Email)
	}
	return words
}
