package device

import (
	"errors"
	"slices"
	"testing"
	"time"

	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

func states(all []Receipt) (out []State) {
	for _, r := range all {
		out = append(out, r.State)
	}
	return out
}

// TestCloudGetsOneAnswer: a command of the cloud is answered as often as it comes,
// always the same, and what cannot be stored is not acknowledged.
func TestCloudGetsOneAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		on := Command{ID: "c1", Space: room, DeviceType: drivers.TypeLight, Action: drivers.ActOn}
		r.take(on)
		r.wait(time.Second)
		r.take(on)
		if got := states(r.receipts("c1")); !slices.Equal(got, []State{Accepted, Done, Done}) {
			t.Errorf("answered %q", got)
		}
		off := on
		off.Action = drivers.ActOff
		r.take(off) // another command by that id
		if got := states(r.receipts("c1")); !slices.Equal(got, []State{Accepted, Done, Done, Done}) {
			t.Errorf("another command of the id was answered %q", got)
		}
		wrong := Command{ID: "c2", Space: room, DeviceType: drivers.TypeFan, Action: drivers.ActOn}
		r.take(wrong)
		wrong.DeviceType = drivers.TypeLight // it is right now, and too late
		r.take(wrong)
		r.wait(time.Second)
		if got := states(r.receipts("c2")); !slices.Equal(got, []State{Rejected, Rejected}) {
			t.Errorf("what was refused was answered %q", got)
		}
		if done := r.bench["light-1"].Effects(); !slices.Equal(done, []string{drivers.ActOn}) {
			t.Errorf("took effect: %q", done)
		}
		if receipt, err := r.Find("c2"); err != nil || receipt.Code != problem.NotFound {
			t.Errorf("found %+v, %v", receipt, err)
		}
		if _, err := r.Find("c3"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a command that nobody gave: %v", err)
		}
	})
}

// TestUnderWayIsNotAnsweredTwice: the receipt of a command that is under way comes
// once it is over.
func TestUnderWayIsNotAnsweredTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		r.bench["light-1"].Set("hang")
		c := Command{ID: "c1", Space: room, DeviceType: drivers.TypeLight, Action: drivers.ActOn}
		r.take(c)
		r.wait(100 * time.Millisecond)
		r.take(c)
		c.Via = ViaMQTT
		if err := r.Refuse(t.Context(), c, problem.New(problem.Invalid, "", "is retained")); err != nil {
			t.Fatal(err)
		}
		again, err := r.Accept(t.Context(), c)
		if err != nil || again.State != Accepted {
			t.Errorf("meanwhile: %+v, %v", again, err)
		}
		r.bench["light-1"].Set("")
		close(r.bench["light-1"].Release)
		r.wait(time.Second)
		if got := states(r.receipts("c1")); !slices.Equal(got, []State{Accepted, Done}) {
			t.Errorf("answered %q", got)
		}
	})
}

// TestMessageIsJudgedEachTime: the id of what is no command, as of a schedule, may
// come again with something else, and what is stored with a refusal is stored each time.
func TestMessageIsJudgedEachTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		also := 0
		for _, why := range []string{"first", "second"} {
			err := r.Refuse(t.Context(), Command{ID: "m1", Via: ViaMQTT}, problem.New(problem.Unavailable, "", "%s", why), func(*store.Tx) error { also++; return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		all := r.receipts("m1")
		if len(all) != 2 {
			t.Fatalf("answered %+v, stored %d times", all, also)
		}
		goldentest.Values(t, "answered", goldentest.Pairs{"all[0].Reason": {all[0].Reason, "first"},
			"all[1].Reason": {all[1].Reason, "second"}, "State": {all[1].State, Rejected}, "also": {also, 2}})
	})
}

// TestLifeOfACommandThatUnlocks: the cloud must show that it did not wait, to a
// clock that can tell. Who unlocks in the building stands at the door.
func TestLifeOfACommandThatUnlocks(t *testing.T) {
	now := time.Now()
	at := func(s int) time.Time { return now.Add(time.Duration(s) * time.Second) }
	open := func(c Command) Command {
		c.DeviceType, c.Action, c.Via = drivers.TypeLock, drivers.ActOpen, ViaMQTT
		return c
	}
	for _, c := range []struct {
		name      string
		command   Command
		untrusted bool
		want      problem.Code // empty: it may
		field     string
	}{
		{"fresh", open(Command{SentAt: now}), false, "", ""},
		{"no time", open(Command{}), false, problem.Invalid, "expires_at"},
		{"old", open(Command{SentAt: at(-31)}), false, problem.Expired, ""},
		{"asks for long", open(Command{SentAt: now, ExpiresAt: at(61)}), false, problem.Invalid, "expires_at"},
		{"lives long", open(Command{SentAt: now, TTL: 61 * time.Second}), false, problem.Invalid, "ttl_s"},
		{"far ahead", open(Command{SentAt: at(61), ExpiresAt: at(62)}), false, problem.Invalid, "expires_at"},
		{"a clock nobody set", open(Command{SentAt: now}), true, problem.NotNow, ""},
		{"closes", Command{DeviceType: drivers.TypeLock, Action: drivers.ActClose, Via: ViaMQTT}, true, "", ""},
		{"in the building", Command{DeviceType: drivers.TypeLock, Action: drivers.ActOpen, Via: ViaHTTP}, true, "", ""},
		{"a day", Command{TTL: LongestLife}, false, "", ""},
		{"longer than a day", Command{TTL: LongestLife + 1}, false, problem.Invalid, "ttl_s"},
		{"ends before it was sent", Command{SentAt: at(20), ExpiresAt: at(10)}, false, problem.Invalid, "expires_at"},
		{"sent tomorrow", Command{SentAt: now.Add(25 * time.Hour)}, false, problem.Invalid, "time"},
	} {
		_, err := judge{now, !c.untrusted, 30 * time.Second}.deadline(c.command)
		if e := problem.As(err); (e == nil) != (c.want == "") || e != nil && (e.Code != c.want || e.Field != c.field) {
			t.Errorf("%s: %v, want %q of %q", c.name, err, c.want, c.field)
		}
	}
}

// TestCommandsAfterARepair: each is forgotten some day, what was open is closed, and
// what was sent before is not carried out.
func TestCommandsAfterARepair(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openRig(t, rigOptions{})
		defer r.stop()
		at := time.Now()
		repair := store.Repair{At: at, Headless: true}
		if !repair.Doubtful(commands.Bucket()) {
			t.Fatal("the repair lost nothing")
		}
		err := r.db.Update(t.Context(), func(tx *store.Tx) error {
			return errors.Join(commands.Put(tx, "found", Stored{Command: lightOn("found"), Receipt: Receipt{CommandID: "found", State: Done}}),
				r.remember(tx, fromCaller, lightOn("aged"), Receipt{State: Done}), Mend(tx, repair))
		})
		if err != nil {
			t.Fatal(err)
		}
		_ = r.db.View(func(tx *store.Tx) error {
			if n, aged := commandAges[fromCloud].Len(tx), commandAges[fromCaller].Len(tx); n != 1 || aged != 1 {
				t.Errorf("%d and %d ages, want one each", n, aged)
			}
			return nil
		})
		r.Repaired(repair)
		before := Command{ID: "before", Space: room, DeviceType: drivers.TypeLight, Action: drivers.ActOn, Via: ViaMQTT, SentAt: at.Add(-time.Second), TTL: time.Minute}
		if _, err := r.Begin(t.Context(), before); AsError(err) == nil || AsError(err).Code != problem.Conflict {
			t.Errorf("sent before the repair: %v", err)
		}
	})
}

// TestQuickCommandIsAnsweredOnce: a device may be done with a command before its message is.
func TestQuickCommandIsAnsweredOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		p, fresh, err := r.accept(t.Context(), Command{ID: "quick", Space: room, DeviceType: drivers.TypeLight, Action: drivers.ActOn, Via: ViaMQTT})
		if err != nil {
			t.Fatal(err)
		}
		r.wait(time.Second)
		if err := r.answerAgain(t.Context(), p, fresh); err != nil {
			t.Error(err)
		}
		if got := states(r.receipts("quick")); !slices.Equal(got, []State{Accepted, Done}) {
			t.Errorf("answered %q", got)
		}
	})
}
