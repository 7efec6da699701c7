package drivers

import (
	"context"
	"slices"
	"sync"
	"time"
)

// maxPageCommands bounds the commands that wait for a page to beat.
const maxPageCommands = 16

// PageCommand is something that a display's page is asked to do.
type PageCommand struct {
	ID     int64  `json:"id"`
	Action string `json:"action"` // on, off, brightness, message, refresh, screenshot
	Text   string `json:"text,omitempty"`
}

// PageDone is a page's answer to a command.
type PageDone struct {
	ID      int64    `json:"id"`
	Error   string   `json:"error,omitempty"`
	Picture *Picture `json:"-"`
}

// Page is the bus to the browser page of a room display: the page beats,
// collects its commands with each beat and answers them with a later one. The
// zero value is ready.
type Page struct {
	mu       sync.Mutex
	seen     time.Time
	last     int64
	commands []PageCommand
	waiting  map[int64]chan PageDone
}

// Beat is called by the server of the page, each time that the page is heard
// of. It returns the commands that are not yet answered.
func (p *Page) Beat(now time.Time, done ...PageDone) []PageCommand {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = now
	for _, d := range done {
		if ch := p.waiting[d.ID]; ch != nil {
			p.forget(d.ID)
			ch <- d // has room for one
		}
	}
	return slices.Clone(p.commands)
}

// Seen is when the page last beat; zero if never.
func (p *Page) Seen() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// Do hands a command to the page and waits until the page has answered it
// or ctx ends. Too many waiting commands are ErrInUse.
func (p *Page) Do(ctx context.Context, action, text string) (PageDone, error) {
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
	if len(p.commands) >= maxPageCommands {
		return 0, ErrInUse
	}
	if p.waiting == nil {
		p.waiting = map[int64]chan PageDone{}
	}
	p.last++
	p.commands = append(p.commands, PageCommand{ID: p.last, Action: action, Text: text})
	p.waiting[p.last] = ch
	return p.last, nil
}

func (p *Page) forget(id int64) {
	delete(p.waiting, id)
	p.commands = slices.DeleteFunc(p.commands, func(o PageCommand) bool { return o.ID == id })
}
