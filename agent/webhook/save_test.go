package webhook

import (
	"errors"
	"testing"

	"golang.org/x/sync/errgroup"

	"roomgate/agent/eventlog"
	"roomgate/agent/goldentest"
	"roomgate/store"
)

// TestTroubleIsOneTransaction looks at what is stored when a webhook is given
// up: its state, the event and the notice, or nothing of it.
func TestTroubleIsOneTransaction(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer func() { r.must(r.close()) }()
		r.out.Always(410, "")
		w := r.hook("gone", owner, Events()...)
		r.book("b1", 40)
		r.must(r.turn.Lock(t.Context()))
		err := r.fanOutAll(t.Context())
		r.turn.Unlock()
		r.must(err)
		var attempts errgroup.Group
		r.sendDue(t.Context(), &attempts)
		_ = attempts.Wait()
		if state, events, notices := r.trouble(w.ID); state != Active || events != 0 || len(notices) != 0 {
			t.Errorf("before it is stored: %s, %d events, notices %+v", state, events, notices)
		}
		before, grown := r.db.Stats().Commits, r.events.Changed()
		r.must(r.saveAll(t.Context()))
		if n := r.db.Stats().Commits - before; n != 1 {
			t.Errorf("%d commits, want one", n)
		}
		select {
		case <-grown:
		default:
			t.Error("nobody who follows the log is woken")
		}
		state, events, notices := r.trouble(w.ID)
		if len(notices) != 1 {
			t.Fatalf("then: %s, %d events, notices %+v", state, events, notices)
		}
		goldentest.Values(t, "then", goldentest.Pairs{"state": {state, Disabled}, "events": {events, 1},
			"OrganizationID": {notices[0].OrganizationID, owner},
			"Subject":        {notices[0].Subject, "webhook at gone.example.com is disabled"}})
	})
}

// refusing is a way to notify that takes nothing.
func refusing([]Notice) eventlog.Stage {
	return eventlog.Stage{Write: func(*store.Tx) error { return errors.New("refused") }}
}

// trouble is what is stored of a webhook that was given up.
func (r *rig) trouble(id string) (state State, events int, notices []Notice) {
	r.t.Helper()
	r.must(r.db.View(func(tx *store.Tx) error {
		s, err := webhooks.Get(tx, id)
		state = s.State
		for _, n := range letters.All(tx) {
			notices = append(notices, n)
		}
		return err
	}))
	return state, r.happened(eventDisabled), notices
}

// TestNothingOfTroubleIsLost has a disk that takes nothing when a webhook is
// given up: the event and the notice come with the next write.
func TestNothingOfTroubleIsLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer func() { r.must(r.close()) }()
		w := r.hook("gone", owner, Events()...)
		r.mu.Lock()
		h := r.byID[w.ID]
		h.State, h.Reason = Disabled, "gone"
		r.dirty[w.ID] = true
		r.announce(h, eventDisabled, Delivery{})
		r.mu.Unlock()
		notify := r.notify
		r.notify = refusing
		if err := r.saveAll(t.Context()); err == nil {
			t.Error("a refusal is no error")
		}
		if state, events, notices := r.trouble(w.ID); state != Active || events != 0 || len(notices) != 0 {
			t.Errorf("refused: %s, %d events, notices %+v", state, events, notices)
		}
		r.notify = notify
		r.must(r.saveAll(t.Context()))
		if state, events, notices := r.trouble(w.ID); state != Disabled || events != 1 || len(notices) != 1 {
			t.Errorf("then: %s, %d events, notices %+v", state, events, notices)
		}
	})
}
