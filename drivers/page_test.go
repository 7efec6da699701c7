package drivers

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPageAnswersAnOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Page
		if !p.Seen().IsZero() {
			t.Error("a page that never beat was seen")
		}
		got := make(chan PageDone)
		go func() {
			d, err := p.Do(t.Context(), ActMessage, "hello")
			if err != nil {
				t.Error(err)
			}
			got <- d
		}()
		synctest.Wait()
		now := time.Now()
		orders := p.Beat(now)
		if len(orders) != 1 || orders[0].Action != ActMessage || orders[0].Text != "hello" || orders[0].ID == 0 {
			t.Fatalf("orders are %+v", orders)
		}
		if again := p.Beat(now); len(again) != 1 || again[0] != orders[0] {
			t.Errorf("an order without an answer comes again, yet got %+v", again)
		}
		if left := p.Beat(now, PageDone{ID: orders[0].ID, Error: "shy"}, PageDone{ID: 99}); len(left) != 0 {
			t.Errorf("after the answer there are still %+v", left)
		}
		if d := <-got; d.Error != "shy" || !p.Seen().Equal(now) {
			t.Errorf("answer %+v, seen %s", d, p.Seen())
		}
		p.Beat(now, PageDone{ID: orders[0].ID}) // a second answer is nobody's
	})
}

func TestPageForgetsWhatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Page
		why := errors.New("no time")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, why)
		defer cancel()
		if _, err := p.Do(ctx, ActRefresh, ""); !errors.Is(err, why) {
			t.Errorf("%v, want the context's cause", err)
		}
		if left := p.Beat(time.Now()); len(left) != 0 {
			t.Errorf("there are still %+v", left)
		}
	})
}

func TestPageIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Page
		over := make(chan error)
		for range maxPageCommands {
			go func() { _, err := p.Do(t.Context(), ActRefresh, ""); over <- err }()
		}
		synctest.Wait()
		if _, err := p.Do(t.Context(), ActRefresh, ""); !errors.Is(err, ErrInUse) {
			t.Errorf("one order too many: %v, want ErrInUse", err)
		}
		var done []PageDone
		for _, o := range p.Beat(time.Now()) {
			done = append(done, PageDone{ID: o.ID})
		}
		p.Beat(time.Now(), done...)
		for range maxPageCommands {
			if err := <-over; err != nil {
				t.Error(err)
			}
		}
	})
}
