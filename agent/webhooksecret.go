package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"roomgate/agent/webhook"
	"roomgate/store"
)

// noSecret is why a webhook is disabled whose secrets cannot be read.
const noSecret = "its secret was stored under another device secret: rotate it and tell the receiver, then set the webhook to active"

// place is what sealed secrets are bound to.
func (s *storedWebhook) place() string { return "webhook/" + s.ID }

// sealSecrets encrypts the secrets of a webhook for the store.
func (a *Agent) sealSecrets(s storedWebhook) (storedWebhook, error) {
	text, err := json.Marshal(s.Secrets)
	if err != nil {
		return s, fmt.Errorf("seal the secrets of a webhook: %w", err)
	}
	s.Sealed, s.Plain = a.signIn.keys.Seal(s.place(), text), nil
	return s, nil
}

// openSecrets reads the secrets of a stored webhook. They are empty where that
// cannot be; what is sealed is kept, in case the device secret comes back.
func (a *Agent) openSecrets(s *storedWebhook) error {
	if s.Plain != nil {
		s.Secrets = *s.Plain
		return nil
	}
	text, err := a.signIn.keys.Open(s.place(), s.Sealed)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &s.Secrets)
}

// admitHook takes a stored webhook in. One whose secrets cannot be read would
// sign so that no receiver takes it, and is disabled.
func (a *Agent) admitHook(s storedWebhook) {
	err := a.openSecrets(&s)
	w := &hook{storedWebhook: s}
	a.hooks.byID[s.ID] = w
	if err == nil {
		return
	}
	a.log.Error("the secret of a webhook cannot be read, it is not told of anything: rotate its secret", "webhook", s.ID, "error", err)
	if s.State == webhook.Disabled {
		return
	}
	w.State, w.Reason = webhook.Disabled, noSecret
	a.hooks.dirty[s.ID] = true
	a.tellWebhook(w, webhookDisabled, webhook.Delivery{})
	a.hooks.save.Wake()
}

// sealStored seals the secrets that an earlier version has stored as they are.
// On a full disk the next start does it. Older snapshots have them, and pages
// of the file that are not used again yet: who may have read those is kept out
// by rotating the secrets.
func (a *Agent) sealStored(ctx context.Context) error {
	var plain []*hook
	for _, w := range a.hooks.byID {
		if w.Plain == nil {
			continue
		}
		sealed, err := a.sealSecrets(w.storedWebhook)
		if err != nil {
			return err
		}
		w.storedWebhook = sealed
		plain = append(plain, w)
	}
	if len(plain) == 0 {
		return nil
	}
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		for _, w := range plain {
			if err := webhooks.Put(tx, w.ID, w.storedWebhook); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, store.ErrFull) {
		a.log.Error("the secrets of webhooks cannot be sealed, the next start tries again: free space on the disk", "error", err)
		return nil
	}
	return err
}
