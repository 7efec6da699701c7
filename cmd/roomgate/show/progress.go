package show

import (
	"cmp"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// ProgressEvery and ProgressEveryLog are how often long work says how far it is,
// unless told otherwise: to people who watch, and into a log.
const (
	ProgressEvery    = 200 * time.Millisecond
	ProgressEveryLog = 10 * time.Second
)

// ProgressOptions say where the progress of long work is shown.
type ProgressOptions struct {
	Out   io.Writer     // the standard error of the command
	Live  bool          // a person watches: the line is written again and again
	Every time.Duration // 0: 200 ms for a person, 10 s in a log
}

// Progress says how far long work is. Work that ends soon says nothing. It is for
// one goroutine.
type Progress struct {
	o     ProgressOptions
	next  time.Time
	shown bool
}

// NewProgress begins: the first line comes Every from now.
func NewProgress(o ProgressOptions) *Progress {
	usual := ProgressEveryLog
	if o.Live {
		usual = ProgressEvery
	}
	o.Every = cmp.Or(o.Every, usual)
	return &Progress{o: o, next: time.Now().Add(o.Every)}
}

// Of returns what is to be told of one part of the work.
func (p *Progress) Of(what string) func(done, total int64) {
	return func(done, total int64) {
		if now := time.Now(); now.After(p.next) {
			p.next = now.Add(p.o.Every)
			p.say(Share(what, done, total))
		}
	}
}

// Share says how much of the bytes is done, as "copying: 25 % of 4.0 MB".
func Share(what string, done, total int64) string {
	return fmt.Sprintf("%s: %d %% of %s", what, done*100/max(total, 1), Bytes(total))
}

// Wait says again and again how far something is that works elsewhere, by what
// told was called with last, or how long it takes as long as nothing is known of
// it, until stop is called. Nothing else may be told meanwhile.
func (p *Progress) Wait(what string) (told func(done, total int64), stop func()) {
	began, done, ended := time.Now(), make(chan struct{}), make(chan struct{})
	var line atomic.Value
	go func() {
		defer close(ended)
		tick := time.NewTicker(p.o.Every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				said, known := line.Load().(string)
				if !known {
					said = fmt.Sprintf("%s: %v", what, now.Sub(began).Round(time.Second))
				}
				p.say(said)
			}
		}
	}()
	return func(done, total int64) { line.Store(Share(what, done, total)) }, func() { close(done); <-ended }
}

func (p *Progress) say(line string) {
	if p.o.Live {
		fmt.Fprintf(p.o.Out, "\r\x1b[K%s", line)
	} else {
		fmt.Fprintln(p.o.Out, line)
	}
	p.shown = true
}

// End clears the line.
func (p *Progress) End() {
	if p.shown && p.o.Live {
		fmt.Fprint(p.o.Out, "\r\x1b[K")
	}
	p.shown = false
}
