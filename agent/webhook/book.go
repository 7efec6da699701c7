package webhook

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"roomgate/agent/eventlog"
	"roomgate/agent/loop"
)

// book is what is known of the webhooks and their deliveries. The store may be
// a little behind: see save.go.
type book struct {
	// mu guards what follows. It is never held across a write or a request.
	mu      sync.Mutex
	byID    map[string]*hook
	next    uint64              // number of the next delivery
	unsaved map[string]Delivery // by key: newer than the store has them
	erase   map[string]bool     // keys that the store still has
	dirty   map[string]bool     // ids of webhooks that the store has older
	rows    []eventlog.Row      // events that the log does not have yet
	notices []Notice            // for the administrators, once those are stored
	tests   int                 // of those that somebody waits for, under way

	due  loop.Signal // something may be due
	save loop.Signal // something is unsaved
}

func newBook() book {
	return book{byID: map[string]*hook{}, next: 1, unsaved: map[string]Delivery{}, erase: map[string]bool{}, dirty: map[string]bool{},
		due: loop.NewSignal(), save: loop.NewSignal()}
}

// hook is one webhook with its deliveries by id, oldest first.
type hook struct {
	storedWebhook
	waiting  []waitingDelivery
	done     []string
	busy     bool      // an attempt is under way
	under    string    // the delivery of that attempt
	failures int       // attempts in a row
	rest     time.Time // leave it alone until then
}

type waitingDelivery struct {
	id  string
	due time.Time
}

// put shows a delivery in the lists of its webhook.
func (h *hook) put(d Delivery) {
	h.drop(d.ID)
	if d.State == Pending {
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

// postpone lets a delivery wait longer.
func (h *hook) postpone(id string, due time.Time) {
	for i := range h.waiting {
		if h.waiting[i].id == id {
			h.waiting[i].due = due
		}
	}
}

func (h *hook) info(now time.Time) Info {
	w := h.Webhook
	w.Events = slices.Clone(w.Events)
	if until := h.Secrets.Until; until.After(now) {
		w.RotatesUntil = until
	}
	return Info{w, len(h.waiting)}
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
