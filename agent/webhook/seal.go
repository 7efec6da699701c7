package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"roomgate/agent/auth"
	"roomgate/agent/problem"
	"roomgate/store"
)

// Why a webhook is disabled that cannot be read under this device secret.
const (
	noSecret  = "its secret was stored under another device secret: rotate it and tell the receiver, then set the webhook to active"
	noAddress = "its address and its secret were stored under another device secret: set its url, rotate its secret and tell the receiver, then set the webhook to active"
)

// place is what sealed secrets are bound to, and addressPlace the sealed address.
func (s storedWebhook) place() string        { return "webhook/" + s.ID }
func (s storedWebhook) addressPlace() string { return s.place() + "/url" }

// sealSecrets encrypts the secrets for the store.
func (s storedWebhook) sealSecrets(keys *auth.Keys) (storedWebhook, error) {
	text, err := json.Marshal(s.Secrets)
	if err != nil {
		return s, fmt.Errorf("seal the secrets of a webhook: %w", err)
	}
	s.Sealed, s.Plain = keys.Seal(s.place(), text), nil
	return s, nil
}

// sealAddress encrypts the address for the store: a token in it is often all
// that somebody needs to speak in the name of the building.
func (s storedWebhook) sealAddress(keys *auth.Keys) storedWebhook {
	s.SealedURL = keys.Seal(s.addressPlace(), []byte(s.URL))
	return s
}

// keep stores a webhook, without what is sealed.
func (s storedWebhook) keep(tx *store.Tx) error {
	if len(s.SealedURL) > 0 {
		s.URL = ""
	}
	return webhooks.Put(tx, s.ID, s)
}

// open reads the address and the secrets. They are empty where that cannot be;
// what is sealed is kept, in case the device secret comes back.
func (s *storedWebhook) open(keys *auth.Keys) error {
	return errors.Join(s.openAddress(keys), s.openSecrets(keys))
}

func (s *storedWebhook) openAddress(keys *auth.Keys) error {
	if len(s.SealedURL) == 0 {
		return nil // an earlier version has stored it
	}
	text, err := keys.Open(s.addressPlace(), s.SealedURL)
	s.URL = string(text)
	return err
}

func (s *storedWebhook) openSecrets(keys *auth.Keys) error {
	if s.Plain != nil {
		s.Secrets = *s.Plain
		return nil
	}
	text, err := keys.Open(s.place(), s.Sealed)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &s.Secrets)
}

// lost is why nothing can be sent to a webhook that cannot be read; empty: it can.
func (s storedWebhook) lost() string {
	switch {
	case s.URL == "":
		return noAddress
	case s.Secrets.Current == "":
		return noSecret
	}
	return ""
}

// readable refuses what needs a webhook to which something can be sent.
func (s storedWebhook) readable(field string) error {
	if reason := s.lost(); reason != "" {
		return problem.New(problem.NotNow, field, "cannot be active: %s", reason)
	}
	return nil
}

// admit takes a stored webhook in. One whose secrets cannot be read would
// sign so that no receiver takes it, and is disabled.
func (ds *Dispatcher) admit(s storedWebhook) {
	err := s.open(ds.keys)
	w := &hook{storedWebhook: s}
	ds.byID[s.ID] = w
	if err == nil {
		return
	}
	ds.log.Error("cannot read the address or the secret of a webhook, disabling it", "webhook", s.ID, "reason", s.lost(), "error", err)
	if s.State == Disabled {
		return
	}
	w.State, w.Reason = Disabled, s.lost()
	ds.dirty[s.ID] = true
	ds.announce(w, eventDisabled, Delivery{})
	ds.save.Wake()
}

// sealPlain seals the secrets and the addresses that an earlier version has
// stored as they are. On a full disk the next start does it. Older snapshots have
// them, and pages of the file that are not used again yet: who may have read
// those is kept out by rotating the secrets, and by another address.
func (ds *Dispatcher) sealPlain(ctx context.Context) error {
	var plain []*hook
	for _, w := range ds.byID {
		if w.Plain == nil && len(w.SealedURL) > 0 {
			continue
		}
		if w.Plain != nil {
			sealed, err := w.sealSecrets(ds.keys)
			if err != nil {
				return err
			}
			w.storedWebhook = sealed
		}
		if len(w.SealedURL) == 0 {
			w.storedWebhook = w.sealAddress(ds.keys)
		}
		plain = append(plain, w)
	}
	if len(plain) == 0 {
		return nil
	}
	err := ds.db.Update(ctx, func(tx *store.Tx) error {
		for _, w := range plain {
			if err := w.keep(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if store.Unstored(err) {
		ds.log.Error("cannot seal the addresses and secrets of webhooks, the next start tries again: see roomgate doctor", "error", err)
		return nil
	}
	return err
}
