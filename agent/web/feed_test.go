package web

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// board is a page of two regions, for tests.
type board struct {
	mu      sync.Mutex
	text    string
	until   time.Time
	failing error
	changed chan struct{}
}

func (b *board) set(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = text
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *board) feed(boot string) *Feed[string] {
	b.changed = make(chan struct{})
	return NewFeed(boot, Source[string]{
		Changed: func() <-chan struct{} { b.mu.Lock(); defer b.mu.Unlock(); return b.changed },
		View:    func() (string, time.Time, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.text, b.until, b.failing },
		Render: func(v string) ([]Part, any, error) {
			return []Part{{"status", []byte("<p>" + v + "</p>\n<p>2</p>")}, {"top", []byte("<h1>Aurora</h1>")}}, map[string]string{"state": v}, nil
		},
	})
}

// TestFeedRendersOncePerState: however many look, and however often they are woken,
// a state is rendered once.
func TestFeedRendersOncePerState(t *testing.T) {
	b := &board{text: "free"}
	f := b.feed("b")
	for state := range 3 {
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				if frame, err := f.Look(""); err != nil || len(frame.Events) == 0 {
					t.Errorf("%q, %v", frame.Events, err)
				}
			})
		}
		all.Wait()
		if n := f.revision; n != uint64(state+1) {
			t.Errorf("%d renderings of %d states", n, state+1)
		}
		b.set(b.text) // woken, and nothing is another
		if _, err := f.Look(""); err != nil || f.revision != uint64(state+1) {
			t.Errorf("what is the same was rendered again: %d", f.revision)
		}
		b.set(fmt.Sprint("state ", state))
	}
}

func TestFeedSendsWhatChanged(t *testing.T) {
	b := &board{text: "free"}
	f := b.feed("b")
	first, _ := f.Look("")
	if want := "event: status\ndata: <p>free</p>\ndata: <p>2</p>\n\nevent: top\ndata: <h1>Aurora</h1>\n\nevent: head\nid: b.1\ndata: {\"state\":\"free\"}\n\n"; string(first.Events) != want {
		t.Errorf("first %q", first.Events)
	}
	if again, _ := f.Look(first.ID); len(again.Events) > 0 {
		t.Errorf("who has seen it gets %q", again.Events)
	}
	b.set("busy")
	select {
	case <-first.Changed:
	default:
		t.Error("who waits is not woken")
	}
	next, _ := f.Look(first.ID)
	if s := string(next.Events); !strings.HasPrefix(s, "event: status\n") || strings.Contains(s, "Aurora") || !strings.Contains(s, "id: b.2\n") {
		t.Errorf("next %q", s)
	}
	for _, seen := range []string{"a.1", "b.9", "b.x", "b", "other"} { // of another start, or of none
		if all, _ := f.Look(seen); !strings.Contains(string(all.Events), "Aurora") {
			t.Errorf("after %s: %q", seen, all.Events)
		}
	}
}

func TestFeedLooksAgainInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{text: "10:00", until: time.Now().Add(time.Minute)}
		f := b.feed("b")
		first, _ := f.Look("")
		b.text, b.until = "10:01", time.Now().Add(2*time.Minute)
		time.Sleep(59 * time.Second)
		if early, _ := f.Look(first.ID); len(early.Events) > 0 || !early.Until.Equal(first.Until) {
			t.Errorf("early: %q", early.Events)
		}
		time.Sleep(time.Second)
		if due, _ := f.Look(first.ID); !strings.Contains(string(due.Events), "10:01") {
			t.Errorf("due: %q", due.Events)
		}
		b.failing = errors.New("the room is gone")
		b.set("")
		if _, err := f.Look(first.ID); !errors.Is(err, b.failing) {
			t.Errorf("failing: %v", err)
		}
	})
}
