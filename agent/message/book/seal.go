package book

import (
	"context"
	"encoding/json"

	"roomgate/agent/auth"
	"roomgate/store"
)

// topics of a message are where a push gateway takes it: whoever knows one reads all that
// goes there, so they are sealed in the store, and are in no row of the log.
type topics struct {
	To   string `json:"to,omitempty"`   // the recipient, if he is named by one
	Push string `json:"push,omitempty"` // to which it goes
}

// place is what sealed topics are bound to.
func (s storedMessage) place() string { return "message/" + s.ID }

// seal is the message as the store keeps it.
func (s storedMessage) seal(keys *auth.Keys) storedMessage {
	t := topics{s.To.Topic, s.Topic}
	if t == (topics{}) {
		return s // or what is sealed cannot be read, and stays
	}
	text, _ := json.Marshal(t) // texts only
	s.Sealed, s.To.Topic, s.Topic = keys.Seal(s.place(), text), "", ""
	return s
}

// open reads the topics. They are empty where that cannot be, as with a database of another
// gateway.
func (s storedMessage) open(keys *auth.Keys) storedMessage {
	if len(s.Sealed) == 0 {
		return s // it has none, or an earlier version has stored it
	}
	var t topics
	if text, err := keys.Open(s.place(), s.Sealed); err != nil || json.Unmarshal(text, &t) != nil {
		return s
	}
	s.To.Topic, s.Topic = t.To, t.Push
	return s
}

// keep stores a message.
func (m *Messages) keep(tx *store.Tx, s storedMessage) error {
	return messages.Put(tx, s.ID, s.seal(m.o.Keys))
}

// sealPlain seals the topics that an earlier version has stored in clear. Rows that cannot
// be stored now are sealed by the next start.
func (m *Messages) sealPlain(ctx context.Context, plain []storedMessage) error {
	if len(plain) == 0 {
		return nil
	}
	err := m.o.DB.Update(ctx, func(tx *store.Tx) error {
		for _, s := range plain {
			if err := m.keep(tx, s); err != nil {
				return err
			}
		}
		return nil
	})
	if store.Unstored(err) {
		m.o.Log.Error("cannot seal the topics of messages, the next start tries again: see roomgate doctor", "error", err)
		return nil
	}
	return err
}
