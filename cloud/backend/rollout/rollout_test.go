package rollout

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/cloud/backend"
	"roomgate/cloud/backend/backendtest"
)

// The canaries come first and alone, then so many per minute, until all have it.
func TestRolloutGoesThroughTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 12)
		f.answer("g01", "")
		id := f.begin(f.order(Plan{Canary: 2, PerMinute: 6, TimeoutS: 600}))
		time.Sleep(time.Minute)
		f.stands(id, Running, Counts{Waiting: 10, Sent: 1, Taken: 1})
		f.answer("g01", "done")
		f.gateways["g01"].Restart() // the broker has kept it
		time.Sleep(25 * time.Second)
		f.stands(id, Running, Counts{Waiting: 7, Taken: 5})
		time.Sleep(2 * time.Minute)
		for _, s := range f.stands(id, Done, Counts{Taken: 12}) {
			if s.Revision != 1 || s.Ended.IsZero() {
				t.Errorf("step %+v", s)
			}
		}
	})
}

// Gateways that refuse stop it, and it goes on when somebody wants it to.
func TestRolloutStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 10)
		for _, id := range []string{"g02", "g04", "g06"} {
			f.answer(id, "rejected")
		}
		id := f.begin(f.order(Plan{PerMinute: 60, StopShare: 0.5, StopAfter: 4, TimeoutS: 60}))
		time.Sleep(30 * time.Second)
		f.stands(id, Stopped, Counts{Waiting: 6, Taken: 2, Refused: 2})
		if _, err := f.Pause(id); !errors.Is(err, ErrState) {
			t.Errorf("pause of what is stopped: %v", err)
		}
		if _, err := f.Resume(id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		f.stands(id, Done, Counts{Taken: 7, Refused: 3})
		if _, err := f.Abort(id); !errors.Is(err, ErrState) {
			t.Errorf("abort of what is done: %v", err)
		}
	})
}

// A gateway that is silent is late; one that comes back later still takes it. A canary
// that is late stops it.
func TestRolloutWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		f.gateways["g01"].Leave()
		id := f.begin(f.order(Plan{Canary: 1, PerMinute: 60, TimeoutS: 300}))
		time.Sleep(299 * time.Second)
		f.stands(id, Running, Counts{Waiting: 2, Sent: 1})
		time.Sleep(10 * time.Second)
		f.stands(id, Stopped, Counts{Waiting: 2, Late: 1})
		f.gateways["g01"].Restart()
		time.Sleep(10 * time.Second)
		f.stands(id, Stopped, Counts{Waiting: 2, Taken: 1})
		if _, err := f.Resume(id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		f.stands(id, Done, Counts{Taken: 3})
	})
}

// A backend that was killed goes on where it was: nobody gets it twice under another id,
// and nobody is late as the backend was away.
func TestRolloutSurvivesTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 10)
		f.answer("g03", "")
		id := f.begin(f.order(Plan{PerMinute: 30, TimeoutS: 120}))
		for range 4 {
			time.Sleep(5 * time.Second)
			f.kill()
			time.Sleep(3 * time.Minute)
			f.start()
		}
		time.Sleep(20 * time.Second)
		f.stands(id, Running, Counts{Sent: 1, Taken: 9})
		f.answer("g03", "done")
		f.gateways["g03"].Restart()
		time.Sleep(20 * time.Second)
		f.stands(id, Done, Counts{Taken: 10})
		f.mu.Lock()
		defer f.mu.Unlock()
		for gateway, ids := range f.took {
			for _, one := range ids {
				if one != ids[0] {
					t.Errorf("%s got it under %v", gateway, ids)
				}
			}
		}
	})
}

// What was marked and may not have gone goes again after a restart, under the same id.
func TestRolloutSendsAgainWhatMayNotHaveGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		f.answer("g01", "")
		id := f.begin(f.order(Plan{PerMinute: 60, TimeoutS: 600}))
		time.Sleep(5 * time.Second)
		message := f.stands(id, Running, Counts{Sent: 1})[0].Message
		f.kill()
		f.unsend(id, "g01")
		f.answer("g01", "done")
		f.start()
		time.Sleep(10 * time.Second)
		if s := f.stands(id, Done, Counts{Taken: 1})[0]; s.Message != message || f.came() != 2 {
			t.Errorf("%d came, the last as %s: want 2 as %s", f.came(), s.Message, message)
		}
	})
}

// A release is taken by who runs it, not by who has only heard of it.
func TestRolloutOfARelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		f.gateways["g01"].Beats(backendtest.Beat{Version: "1.0.0", Revision: 41})
		time.Sleep(3 * time.Second)
		o := f.order(Plan{PerMinute: 600, TimeoutS: 600})
		o.Release = "1.1.0"
		if _, err := f.Start(o); err == nil {
			t.Error("a release without an address was begun")
		}
		o.Config.Update = &backend.Update{URL: "https://releases.example.com/1.1.0"}
		id := f.begin(o)
		time.Sleep(10 * time.Second)
		if s := f.stands(id, Running, Counts{Sent: 2}); s[0].Revision != 42 {
			t.Errorf("g01 has revision 41 and was sent %d", s[0].Revision)
		}
		f.gateways["g01"].Beats(backendtest.Beat{Version: "1.1.0", Revision: 42})
		time.Sleep(10 * time.Second)
		f.stands(id, Running, Counts{Sent: 1, Taken: 1})
		f.gateways["g02"].Event("updateFailed", "it did not start")
		time.Sleep(10 * time.Second)
		if s := f.stands(id, Done, Counts{Taken: 1, Refused: 1}); s[1].Why != "it did not start" {
			t.Errorf("why: %q", s[1].Why)
		}
	})
}

// Who pauses or aborts it is obeyed at once; a gateway is in one rollout at a time.
func TestRolloutObeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 5)
		o := f.order(Plan{PerMinute: 30, TimeoutS: 60})
		id := f.begin(o)
		time.Sleep(1500 * time.Millisecond)
		if _, err := f.Start(o); !errors.Is(err, ErrBusy) {
			t.Errorf("the same gateways again: %v", err)
		}
		paused, err := f.Pause(id)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		f.stands(id, Paused, paused.Counts)
		if _, err := f.Resume(id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		aborted, err := f.Abort(id)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		f.stands(id, Aborted, aborted.Counts)
		if aborted.Counts.Waiting == 0 {
			t.Fatal("nobody was left to abort it for")
		}
		f.begin(o)
		time.Sleep(time.Minute)
		if all, err := f.List(); err != nil || len(all) != 2 || all[1].State != Done {
			t.Errorf("%v: %+v", err, all)
		}
		if _, err := f.Pause("nothing"); !errors.Is(err, ErrNotFound) {
			t.Errorf("pause of nothing: %v", err)
		}
	})
}

// A gateway that was away while the broker lost what it kept gets it when it is back.
func TestRolloutOutlivesTheMemoryOfTheBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		f.gateways["g02"].Leave()
		id := f.begin(f.order(Plan{PerMinute: 600, TimeoutS: 600}))
		time.Sleep(10 * time.Second)
		f.stands(id, Running, Counts{Sent: 1, Taken: 1})
		f.forget()
		time.Sleep(time.Minute)
		f.gateways["g02"].Restart()
		time.Sleep(10 * time.Second)
		f.stands(id, Running, Counts{Sent: 1, Taken: 1})
		f.gateways["g02"].Online()
		time.Sleep(10 * time.Second)
		f.stands(id, Done, Counts{Taken: 2})
	})
}
