package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"roomgate/agent/auth"
	"roomgate/store"
)

// noSecret is why a webhook is disabled whose secrets cannot be read.
const noSecret = "its secret was stored under another device secret: rotate it and tell the receiver, then set the webhook to active"

// place is what sealed secrets are bound to.
func (s storedWebhook) place() string { return "webhook/" + s.ID }

// seal encrypts the secrets for the store.
func (s storedWebhook) seal(keys *auth.Keys) (storedWebhook, error) {
	text, err := json.Marshal(s.Secrets)
	if err != nil {
		return s, fmt.Errorf("seal the secrets of a webhook: %w", err)
	}
	s.Sealed, s.Plain = keys.Seal(s.place(), text), nil
	return s, nil
}

// open reads the secrets. They are empty where that cannot be; what is sealed is
// kept, in case the device secret comes back.
func (s *storedWebhook) open(keys *auth.Keys) error {
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

// admit takes a stored webhook in. One whose secrets cannot be read would
// sign so that no receiver takes it, and is disabled.
func (p *Dispatcher) admit(s storedWebhook) {
	err := s.open(p.keys)
	w := &hook{storedWebhook: s}
	p.byID[s.ID] = w
	if err == nil {
		return
	}
	p.log.Error("cannot read the secret of a webhook, disabling it: rotate its secret", "webhook", s.ID, "error", err)
	if s.State == Disabled {
		return
	}
	w.State, w.Reason = Disabled, noSecret
	p.dirty[s.ID] = true
	p.announce(w, eventDisabled, Delivery{})
	p.save.Wake()
}

// sealPlain seals the secrets that an earlier version has stored as they are.
// On a full disk the next start does it. Older snapshots have them, and pages
// of the file that are not used again yet: who may have read those is kept out
// by rotating the secrets.
func (p *Dispatcher) sealPlain(ctx context.Context) error {
	var plain []*hook
	for _, w := range p.byID {
		if w.Plain == nil {
			continue
		}
		sealed, err := w.seal(p.keys)
		if err != nil {
			return err
		}
		w.storedWebhook = sealed
		plain = append(plain, w)
	}
	if len(plain) == 0 {
		return nil
	}
	err := p.db.Update(ctx, func(tx *store.Tx) error {
		for _, w := range plain {
			if err := webhooks.Put(tx, w.ID, w.storedWebhook); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, store.ErrFull) {
		p.log.Error("cannot seal the secrets of webhooks, the next start tries again: free space on the disk", "error", err)
		return nil
	}
	return err
}
