package drivers

import (
	"context"
	"slices"
	"sync"
	"time"
)

// maxPageOrders bounds the orders that wait for a page to beat.
const maxPageOrders = 16

// PageOrder is something that a display's page is asked to do.
type PageOrder struct {
	ID     int64  `json:"id"`
	Action string `json:"action"` // on, off, brightness, message, refresh, screenshot
	Text   string `json:"text,omitempty"`
}

// PageDone is a page's answer to an order.
type PageDone struct {
	ID      int64    `json:"id"`
	Error   string   `json:"error,omitempty"`
	Picture *Picture `json:"-"`
}

// Page is the bus to the browser page of a room display: the page beats,
// collects its orders with each beat and answers them with a later one. The
// zero value is ready.
type Page struct {
	mu      sync.Mutex
	seen    time.Time
	last    int64
	orders  []PageOrder
	waiting map[int64]chan PageDone
}

// Beat is called by whoever serves the page, each time that the page is heard
// of. It returns the orders that are not yet answered.
func (p *Page) Beat(now time.Time, done ...PageDone) []PageOrder {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = now
	for _, d := range done {
		if ch := p.waiting[d.ID]; ch != nil {
			p.forget(d.ID)
			ch <- d // has room for one
		}
	}
	return slices.Clone(p.orders)
}

// Seen is when the page last beat; zero if never.
func (p *Page) Seen() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// Order hands an order to the page and waits until the page has answered it
// or ctx ends. Too many waiting orders are ErrInUse.
func (p *Page) Order(ctx context.Context, action, text string) (PageDone, error) {
	ch := make(chan PageDone, 1)
	id, err := p.put(action, text, ch)
	if err != nil {
		return PageDone{}, err
	}
	select {
	case d := <-ch:
		return d, nil
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		p.forget(id)
		return PageDone{}, context.Cause(ctx)
	}
}

func (p *Page) put(action, text string, ch chan PageDone) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.orders) >= maxPageOrders {
		return 0, ErrInUse
	}
	if p.waiting == nil {
		p.waiting = map[int64]chan PageDone{}
	}
	p.last++
	p.orders = append(p.orders, PageOrder{ID: p.last, Action: action, Text: text})
	p.waiting[p.last] = ch
	return p.last, nil
}

func (p *Page) forget(id int64) {
	delete(p.waiting, id)
	p.orders = slices.DeleteFunc(p.orders, func(o PageOrder) bool { return o.ID == id })
}
