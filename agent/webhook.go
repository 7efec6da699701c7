package agent

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/outgoing"
	"roomgate/agent/webhook"
	"roomgate/store"
)

const (
	// maxWebhooks is how many webhooks a building has, and an organization.
	maxWebhooks        = 50
	maxWebhooksOfOrg   = 20
	maxWaiting         = 2000 // deliveries that wait for one webhook; then the oldest is dropped
	keepDelivered      = 100  // finished deliveries of one webhook that its log keeps
	maxDeliveries      = 20_000
	deliveryBytes      = 2600 // what the largest delivery takes in the store
	deliveriesOfBudget = 4    // they take at most this part of store.max_size
)

// WebhookInfo is a webhook as it may be shown: never with its secrets.
type WebhookInfo struct {
	webhook.Webhook
	Pending int `json:"pending_deliveries"`
}

// hooks are the webhooks and what they still have to be told.
type hooks struct {
	sender *webhook.Sender
	policy outgoing.Policy
	limit  int // of deliveries in the building

	// turn holds a token while somebody writes webhooks or deliveries, and
	// guards how far the log has been turned into deliveries.
	turn          loop.Turn
	cursor, saved uint64 // of the log: spread up to here; what the store says of it

	// mu guards what follows. It is never held across a write or a request.
	mu      sync.Mutex
	byID    map[string]*hook
	next    uint64                      // number of the next delivery
	unsaved map[string]webhook.Delivery // by key: newer than the store has them
	erase   map[string]bool             // keys that the store still has
	dirty   map[string]bool             // ids of webhooks that the store has older
	told    []eventlog.Row              // what the log has to be told
	notices []notice                    // and the administrators, once that is stored
	tests   int                         // of those that somebody waits for, under way

	due  loop.Signal // holds a token when something may be due
	save loop.Signal // holds a token when something is unsaved
}

// hook is one webhook with its deliveries by id, oldest first.
type hook struct {
	storedWebhook
	waiting  []waitingDelivery
	done     []string
	busy     bool      // an attempt is under way
	failures int       // attempts in a row
	rest     time.Time // leave it alone until then
}

type waitingDelivery struct {
	id  string
	due time.Time
}

func newHooks(o Options) *hooks {
	c, client := o.Config, o.Webhooks
	policy := c.Webhooks.Policy(o.AllowLoopback)
	if client == nil {
		client = webhook.NewClient(policy)
	}
	return &hooks{sender: webhook.NewSender(client), policy: policy,
		limit: min(maxDeliveries, int(c.Store.MaxSize)/deliveriesOfBudget/deliveryBytes), byID: map[string]*hook{}, next: 1,
		unsaved: map[string]webhook.Delivery{}, erase: map[string]bool{}, dirty: map[string]bool{},
		turn: loop.NewTurn(), due: loop.NewSignal(), save: loop.NewSignal()}
}

// deliveryKey is where the store has a delivery.
func deliveryKey(webhookID, id string) string { return webhookID + "/" + id }

// loadHooks reads the webhooks and what waits for them.
func (a *Agent) loadHooks(tx *store.Tx) error {
	h := a.hooks
	for _, s := range webhooks.All(tx) {
		a.admitHook(s)
	}
	for key, d := range deliveries.All(tx) {
		owner := h.byID[d.WebhookID]
		if owner == nil || key != deliveryKey(d.WebhookID, d.ID) {
			h.erase[key] = true
			continue
		}
		owner.put(d)
		h.next = max(h.next, numberOf(d.ID)+1)
	}
	if err := tx.Err(); err != nil {
		a.log.Error("a webhook or a delivery cannot be read and is left out: register the webhook again if it is missing", "error", err)
	}
	cursor, set, err := webhookCursor.Get(tx)
	if !set || len(h.byID) == 0 {
		cursor = eventlog.End(tx)
	}
	h.cursor, h.saved = cursor, cursor
	return err
}

// put shows a delivery in the lists of its webhook.
func (h *hook) put(d webhook.Delivery) {
	h.drop(d.ID)
	if d.State == webhook.Pending {
		i, _ := slices.BinarySearchFunc(h.waiting, d.ID, func(w waitingDelivery, id string) int { return cmp.Compare(w.id, id) })
		h.waiting = slices.Insert(h.waiting, i, waitingDelivery{d.ID, d.NextAt})
		return
	}
	i, _ := slices.BinarySearch(h.done, d.ID)
	h.done = slices.Insert(h.done, i, d.ID)
}

// drop takes a delivery from the lists, and says whether it was in one.
func (h *hook) drop(id string) bool {
	if i, found := slices.BinarySearchFunc(h.waiting, id, func(w waitingDelivery, id string) int { return cmp.Compare(w.id, id) }); found {
		h.waiting = slices.Delete(h.waiting, i, i+1)
		return true
	}
	i, found := slices.BinarySearch(h.done, id)
	if found {
		h.done = slices.Delete(h.done, i, i+1)
	}
	return found
}

func (h *hook) info(now time.Time) WebhookInfo {
	w := h.Webhook
	w.Events = slices.Clone(w.Events)
	if until := h.Secrets.Until; until.After(now) {
		w.RotatesUntil = until
	}
	return WebhookInfo{w, len(h.waiting)}
}

// Webhooks returns the webhooks of an organization, or all if it is empty, the
// oldest first.
func (a *Agent) Webhooks(organization string) []WebhookInfo {
	h := a.hooks
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []WebhookInfo{}
	for _, id := range slices.Sorted(maps.Keys(h.byID)) { // they begin with the time
		if w := h.byID[id]; organization == "" || w.OrganizationID == organization {
			all = append(all, w.info(a.Now()))
		}
	}
	return all
}

// Webhook returns one webhook.
func (a *Agent) Webhook(id string) (WebhookInfo, error) {
	h := a.hooks
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.byID[id]
	if w == nil {
		return WebhookInfo{}, noWebhook()
	}
	return w.info(a.Now()), nil
}

func noWebhook() error { return refuse(NotFound, "id", "is not a webhook of this gateway") }

// CreateWebhook registers a webhook. A secret that had to be made is returned
// this once.
func (a *Agent) CreateWebhook(ctx context.Context, r webhook.Request) (w WebhookInfo, secret string, err error) {
	h := a.hooks
	if err := h.turn.Lock(ctx); err != nil {
		return w, "", err
	}
	defer h.turn.Unlock()
	made, secrets, err := webhook.New(strings.ToLower(ulid.Make().String()), r, h.policy, a.Now())
	if err != nil {
		return w, "", err
	}
	if _, err := a.Access.Organization(r.OrganizationID); AsError(err) != nil && AsError(err).Code == NotFound {
		return w, "", refuse(Invalid, "organization_id", "is not an organization of this gateway: create it first")
	} else if err != nil {
		return w, "", err
	}
	if all, own := len(a.Webhooks("")), len(a.Webhooks(r.OrganizationID)); all >= maxWebhooks || own >= maxWebhooksOfOrg {
		return w, "", refuse(Full, "", "the gateway has %d webhooks of at most %d and the organization %d of %d: delete one that is not used",
			all, maxWebhooks, own, maxWebhooksOfOrg)
	}
	if err := a.spreadAll(ctx); err != nil {
		return w, "", err
	}
	s, err := a.sealSecrets(storedWebhook{Webhook: made, Secrets: secrets})
	if err != nil {
		return w, "", err
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(webhooks.Put(tx, made.ID, s), webhookCursor.Put(tx, h.cursor))
	})
	if err != nil {
		return w, "", err
	}
	h.saved = h.cursor
	h.mu.Lock()
	defer h.mu.Unlock()
	h.byID[made.ID] = &hook{storedWebhook: s}
	if r.Secret == "" {
		secret = string(secrets.Current)
	}
	return h.byID[made.ID].info(a.Now()), secret, nil
}

// ChangeWebhook changes the address, the events or the state of a webhook.
// What has happened before goes to it as it was. Enabled again, it is told of
// what still waits for it.
func (a *Agent) ChangeWebhook(ctx context.Context, id string, c webhook.Change) (WebhookInfo, error) {
	return a.editWebhook(ctx, id, func(s storedWebhook) (storedWebhook, error) {
		if c.State != nil && *c.State == webhook.Active && s.Secrets.Current == "" {
			return s, refuse(NotNow, "state", "cannot be active: %s", noSecret)
		}
		changed, err := s.With(c, a.hooks.policy, a.Now())
		s.Webhook = changed
		return s, err
	})
}

// RotateSecret gives a webhook another secret; an empty one is made and
// returned this once. The old one signs beside it for the overlap.
func (a *Agent) RotateSecret(ctx context.Context, id string, secret webhook.Secret, overlap time.Duration) (w WebhookInfo, made string, err error) {
	if overlap != 0 && a.clock.Trust() != Trusted {
		return w, "", refuse(NotNow, "overlap", "cannot be measured while the clock is not trusted: wait until it is, or rotate with an overlap of 0")
	}
	if secret == "" {
		secret = webhook.NewSecret()
		made = string(secret)
	}
	now := a.Now()
	w, err = a.editWebhook(ctx, id, func(s storedWebhook) (storedWebhook, error) {
		if s.Secrets.Current == "" { // there is none to sign beside it
			overlap = 0
		}
		secrets, err := s.Secrets.Rotate(secret, overlap, now)
		if err != nil {
			return s, err
		}
		s.Secrets, s.UpdatedAt = secrets, now.UTC().Truncate(time.Millisecond)
		return a.sealSecrets(s)
	})
	if err != nil {
		made = ""
	}
	return w, made, err
}

// editWebhook stores what edit makes of a webhook and then lets it take
// effect, without losing what an attempt has found out in between.
func (a *Agent) editWebhook(ctx context.Context, id string, edit func(storedWebhook) (storedWebhook, error)) (w WebhookInfo, err error) {
	h := a.hooks
	if err := h.turn.Lock(ctx); err != nil {
		return w, err
	}
	defer h.turn.Unlock()
	if _, err := a.Webhook(id); err != nil {
		return w, err
	}
	if err := a.spreadAll(ctx); err != nil {
		return w, err
	}
	h.mu.Lock()
	owner := h.byID[id]
	before := owner.storedWebhook
	h.mu.Unlock()
	after, err := edit(before)
	if err != nil {
		return w, err
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(webhooks.Put(tx, id, after), webhookCursor.Put(tx, h.cursor))
	})
	if err != nil {
		return w, err
	}
	h.saved = h.cursor
	h.mu.Lock()
	defer h.mu.Unlock()
	owner.Secrets, owner.Sealed, owner.Plain = after.Secrets, after.Sealed, after.Plain
	owner.URL, owner.Events, owner.UpdatedAt = after.URL, after.Events, after.UpdatedAt
	if after.State != before.State {
		owner.State, owner.Reason = after.State, after.Reason
	}
	h.dirty[id] = true // an attempt may have found out something meanwhile
	owner.rest, owner.failures = time.Time{}, 0
	h.due.Wake()
	h.save.Wake()
	return owner.info(a.Now()), nil
}

// DeleteWebhook ends a webhook with all that waits for it and its log.
func (a *Agent) DeleteWebhook(ctx context.Context, id string) error {
	h := a.hooks
	if err := h.turn.Lock(ctx); err != nil {
		return err
	}
	defer h.turn.Unlock()
	if _, err := a.Webhook(id); err != nil {
		return err
	}
	prefix := deliveryKey(id, "")
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		for key := range deliveries.From(tx, prefix) {
			if !strings.HasPrefix(key, prefix) {
				break
			}
			if err := deliveries.Delete(tx, key); err != nil {
				return err
			}
		}
		return webhooks.Delete(tx, id)
	})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.byID, id)
	delete(h.dirty, id)
	mine := func(key string) bool { return strings.HasPrefix(key, prefix) }
	maps.DeleteFunc(h.unsaved, func(key string, _ webhook.Delivery) bool { return mine(key) })
	maps.DeleteFunc(h.erase, func(key string, _ bool) bool { return mine(key) })
	return nil
}

// numberOf is the number that a delivery's id begins with.
func numberOf(id string) uint64 {
	digits, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0
	}
	return n
}
