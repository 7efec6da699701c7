package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/auth"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
	"roomgate/agent/outgoing"
	"roomgate/agent/problem"
	"roomgate/store"
)

const (
	// maxWebhooks is how many webhooks a building has, and an organization.
	maxWebhooks      = 50
	maxWebhooksOfOrg = 20
	maxWaiting       = 2000 // deliveries that wait for one webhook; then the oldest is dropped
	keepDelivered    = 100  // finished deliveries of one webhook that its log keeps

	maxDeliveries      = 20_000
	deliveryBytes      = 2600 // what the largest delivery takes in the store
	deliveriesOfBudget = 4    // they take at most this part of the store
)

// Budget is how many deliveries fit the quarter of a store that they may take,
// 20,000 at most; size is the most that the store may have, in bytes.
func Budget(size int64) int { return min(maxDeliveries, int(size/deliveriesOfBudget/deliveryBytes)) }

// Options are what a Dispatcher is opened with.
type Options struct {
	DB     *store.DB
	Events *eventlog.Log
	Clock  *clock.Clock
	Keys   *auth.Keys // seal the secrets
	Log    *slog.Logger

	Client *http.Client    // sends the notifications; nil: as the policy allows
	Policy outgoing.Policy // where notifications may go
	// MaxDeliveries are kept of the whole building, see Budget. Then the webhook
	// with the most loses its oldest.
	MaxDeliveries int
	Flush         time.Duration // how long results may wait for each other before they are stored
	Alerts        []string      // the events of devices that webhooks get as DeviceAlert

	// The questions to the rest of the building. They are asked while it runs,
	// not by Open.

	// Organization refuses an id, by problem.NotFound, that no organization has.
	Organization func(id string) error
	// Owner is the organization of a meeting space, empty if it has none. It refuses
	// an unknown space.
	Owner func(spaceID string) (organization string, err error)
	// Notify is the stage that writes notices to the administrators: the same
	// transaction stores what they tell of.
	Notify func([]Notice) eventlog.Stage
}

// Info is a webhook as it may be shown: never with its secrets.
type Info struct {
	Webhook
	Pending int `json:"pending_deliveries"`
}

// Dispatcher keeps the webhooks of a building and sends them their deliveries.
type Dispatcher struct {
	db      *store.DB
	events  *eventlog.Log
	clock   *clock.Clock
	keys    *auth.Keys
	log     *slog.Logger
	policy  outgoing.Policy
	sender  *Sender
	limit   int // of deliveries in the building
	flush   time.Duration
	alerts  []string // events of devices
	started time.Time

	organization func(id string) error
	owner        func(spaceID string) (organization string, err error)
	notify       func([]Notice) eventlog.Stage

	// turn is had by whoever writes webhooks or deliveries, and guards how far
	// the log has been turned into deliveries.
	turn          loop.Turn
	cursor, saved uint64 // of the log: there are deliveries up to here; what the store says of it

	book
}

// Open reads the webhooks and what waits for them, and seals secrets that an
// earlier version has stored as they are. It sends nothing: that is Run's.
func Open(ctx context.Context, o Options) (*Dispatcher, error) {
	if o.Client == nil {
		o.Client = NewClient(o.Policy)
	}
	p := &Dispatcher{db: o.DB, events: o.Events, clock: o.Clock, keys: o.Keys, log: o.Log, policy: o.Policy, sender: NewSender(o.Client),
		limit: o.MaxDeliveries, flush: o.Flush, alerts: o.Alerts, started: time.Now(), organization: o.Organization, owner: o.Owner, notify: o.Notify,
		turn: loop.NewTurn(), book: newBook()}
	if err := p.db.View(p.load); err != nil {
		return nil, fmt.Errorf("load the webhooks: %w", err)
	}
	if err := p.sealPlain(ctx); err != nil {
		return nil, fmt.Errorf("seal the secrets of webhooks: %w", err)
	}
	return p, nil
}

// load reads the webhooks and what waits for them.
func (ds *Dispatcher) load(tx *store.Tx) error {
	for _, s := range webhooks.All(tx) {
		ds.admit(s)
	}
	for key, d := range deliveries.All(tx) {
		owner := ds.byID[d.WebhookID]
		if owner == nil || key != deliveryKey(d.WebhookID, d.ID) {
			ds.erase[key] = true
			continue
		}
		owner.put(d)
		ds.next = max(ds.next, numberOf(d.ID)+1)
	}
	if err := tx.Err(); err != nil {
		ds.log.Error("a webhook or a delivery cannot be read and is left out: register the webhook again if it is missing", "error", err)
	}
	cursor, set, err := logCursor.Get(tx)
	if !set || len(ds.byID) == 0 {
		cursor = eventlog.End(tx)
	}
	ds.cursor, ds.saved = cursor, cursor
	return err
}

// Run sends what is due until ctx ends, and then stores the last results.
// Nothing in the building waits for it.
func (ds *Dispatcher) Run(ctx context.Context) error {
	loops, inner := errgroup.WithContext(ctx)
	loops.Go(func() error { return ds.followLoop(inner) })
	loops.Go(func() error { return ds.sendLoop(inner) })
	loops.Go(func() error { return ds.saveLoop(inner) })
	err := loops.Wait()
	ds.sender.Close()
	last, cancel := loop.Last(ctx)
	defer cancel()
	return errors.Join(err, ds.saveAll(last))
}

// List returns the webhooks of an organization, or all if it is empty, the
// oldest first.
func (ds *Dispatcher) List(organization string) []Info {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	all := []Info{}
	for _, id := range slices.Sorted(maps.Keys(ds.byID)) { // they begin with the time
		if w := ds.byID[id]; organization == "" || w.OrganizationID == organization {
			all = append(all, w.info(ds.clock.Now()))
		}
	}
	return all
}

// Get returns one webhook, or refuses by problem.NotFound.
func (ds *Dispatcher) Get(id string) (Info, error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	w := ds.byID[id]
	if w == nil {
		return Info{}, noWebhook()
	}
	return w.info(ds.clock.Now()), nil
}

func noWebhook() error {
	return problem.New(problem.NotFound, "id", "is not a webhook of this gateway")
}
