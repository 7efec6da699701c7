package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
)

// progressEvery is how often long work says how far it is: to people who
// watch, and into a log.
const (
	progressEvery    = 200 * time.Millisecond
	progressEveryLog = 10 * time.Second
)

// progress says on the standard error how far long work is. Work that ends
// soon says nothing.
type progress struct {
	out   io.Writer
	live  bool // a person watches: the line is written again and again
	every time.Duration
	next  time.Time
	shown bool
}

func newProgress(cmd *cobra.Command) *progress {
	p := &progress{out: cmd.ErrOrStderr(), live: isTerminal(os.Stderr), every: progressEveryLog}
	if p.live {
		p.every = progressEvery
	}
	p.next = time.Now().Add(p.every)
	return p
}

// of returns what is to be told of one part of the work.
func (p *progress) of(what string) func(done, total int64) {
	return func(done, total int64) {
		if now := time.Now(); now.After(p.next) {
			p.next = now.Add(p.every)
			p.say(share(what, done, total))
		}
	}
}

func share(what string, done, total int64) string {
	return fmt.Sprintf("%s: %d %% of %s", what, done*100/max(total, 1), bytesText(total))
}

// wait says again and again how far something is that works elsewhere, by what
// told was called with last, or how long it takes as long as nothing is known of
// it, until stop is called. Nothing else may be told meanwhile.
func (p *progress) wait(what string) (told func(done, total int64), stop func()) {
	began, done, ended := time.Now(), make(chan struct{}), make(chan struct{})
	var line atomic.Value
	go func() {
		defer close(ended)
		tick := time.NewTicker(p.every)
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
	return func(done, total int64) { line.Store(share(what, done, total)) }, func() { close(done); <-ended }
}

func (p *progress) say(line string) {
	if p.live {
		fmt.Fprintf(p.out, "\r\x1b[K%s", line)
	} else {
		fmt.Fprintln(p.out, line)
	}
	p.shown = true
}

// end clears the line.
func (p *progress) end() {
	if p.shown && p.live {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.shown = false
}

// bytesText writes a size for people.
func bytesText(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f kB", float64(n)/(1<<10))
	}
	return count(int(n), "byte")
}
