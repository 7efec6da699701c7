package webhook

import (
	"errors"

	"roomgate/agent/auth"
	"roomgate/agent/eventlog"
	"roomgate/store"
)

var (
	// webhooks holds the webhooks by id, with their addresses and the secrets that they
	// sign with, sealed.
	webhooks = store.NewTable[storedWebhook]("webhooks")
	// deliveries holds what webhooks were and will be sent, by webhook and
	// delivery id. Of one webhook at most maxWaiting wait, then the oldest goes,
	// and keepDelivered are kept for the log; of the building Options.MaxDeliveries.
	deliveries = store.NewTable[Delivery]("deliveries")
)

// logCursor is how far the log has been turned into deliveries.
const logCursor eventlog.Cursor = "webhooks"

// Buckets names what webhooks have in the store, besides a cursor of the log.
func Buckets() []string { return []string{webhooks.Bucket(), deliveries.Bucket()} }

// storedWebhook is a webhook with what is never shown of it. Its secret
// and its address are encrypted under the device secret: a copy of the database
// alone forges no notification, nor a message to the receiver. So a backup without
// device.secret cannot send either; its webhooks are disabled until they have
// another address and their secrets are rotated.
type storedWebhook struct {
	Webhook
	Secrets Secrets `json:"-"` // empty: they cannot be read
	Sealed  []byte  `json:"sealed,omitempty"`
	// SealedURL is the address; empty: an earlier version has stored it in the row.
	SealedURL []byte   `json:"url_sealed,omitempty"`
	Plain     *Secrets `json:"secrets,omitempty"` // as an earlier version has stored them
}

// deliveryKey is where the store has a delivery.
func deliveryKey(webhookID, id string) string { return webhookID + "/" + id }

// Forget makes the stored webhooks those of another gateway: what waits
// is the old one's to send, and would come twice, and so would what the log has.
func Forget(tx *store.Tx) error {
	err := logCursor.ToEnd(tx)
	for key, d := range deliveries.All(tx) {
		if d.State == Pending {
			err = errors.Join(err, deliveries.Delete(tx, key))
		}
	}
	return err
}

// Words are those of the stored webhooks that no support bundle may have: where
// they are, and their secrets as far as the keys open them.
func Words(tx *store.Tx, keys *auth.Keys) (words []string) {
	for _, s := range webhooks.All(tx) {
		_ = s.open(keys) // what cannot be read cannot be said either
		words = append(words, s.URL, hostOf(s.URL), string(s.Secrets.Current), string(s.Secrets.Previous))
	}
	return words
}
