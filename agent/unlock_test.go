package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent"
	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

// doors is a room with a lock and a keypad.
const doors = `
gateway: {id: test}
clock: {trust: always}
spaces:
  - id: ` + aurora + `
    name: Aurora
    devices:
      - {id: lock, type: lock, driver: lock-relay, poll: 30s, options: {relay: aurora.lock.relay, sense: aurora.lock.sense, mode: pulse, keypad: {d0: aurora.lock.d0, d1: aurora.lock.d1}}}
  - id: ` + borealis + `
    name: Borealis
`

// code sets an unlock code of the room.
func (h *house) code(set agent.UnlockCodeSet) agent.UnlockCode {
	h.t.Helper()
	c, _, _, err := h.SetUnlockCode(context.Background(), aurora, set, "test")
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// types enters a code at the keypad, and waits for its verdict.
func (h *house) types(code string) {
	h.t.Helper()
	if _, err := h.world.Control(aurora, "keypad", "code", code); err != nil {
		h.t.Fatal(err)
	}
	h.pass(4 * time.Second)
}

// refused enters a code that must not open the door.
func (h *house) refused(code, why string) {
	h.t.Helper()
	h.types(code)
	h.door(aurora, drivers.Closed)
	events, _, err := h.Events.Latest(eventlog.Filter{DeviceType: drivers.TypeLock, Limit: 1})
	if err != nil || len(events) == 0 || events[0].Type != "codeRefused" || !strings.Contains(string(events[0].Record), why) {
		h.t.Errorf("last event %s, %v, want codeRefused: %s", events[0].Record, err, why)
	}
}

// opens enters a code that must open the door, and waits until it is locked.
func (h *house) opens(code string) {
	h.t.Helper()
	h.types(code)
	h.door(aurora, drivers.Open)
	h.pass(time.Minute)
	h.door(aurora, drivers.Closed)
}

// events lists the types of what was told of the lock, and their records.
func (h *house) events() (types []string, text string) {
	h.t.Helper()
	all, _, err := h.Events.Find(eventlog.Filter{DeviceType: drivers.TypeLock, Limit: 5000})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range all {
		types, text = append(types, e.Type), text+string(e.Record)+"\n"
	}
	return types, text
}

func TestCodeOpensItsDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, doors)
		made := h.code(agent.UnlockCodeSet{Name: "Cleaning", Code: "483920"})
		h.opens("483920")
		h.refused("483921", "no such code")
		h.refused("48392", "no such code")
		h.refused("123", "not 4 to 10 digits")
		h.refused("48392048392", "not 4 to 10 digits")
		h.restart()
		h.opens("483920")
		if err := h.DeleteUnlockCode(t.Context(), aurora, made.ID, "test"); err != nil {
			t.Fatal(err)
		}
		h.refused("483920", "no such code")
		types, text := h.events()
		for _, want := range []string{"unlockCodeCreated", "codeAccepted", "commandCompleted", "unlockCodeDeleted"} {
			if !slices.Contains(types, want) {
				t.Errorf("told %q, want %s too", types, want)
			}
		}
		if !strings.Contains(text, `"via":"keypad"`) || !strings.Contains(text, `"name":"Cleaning"`) || strings.Contains(text, "48392") {
			t.Errorf("events say %s", text)
		}
		if d, err := h.Device(aurora, drivers.TypeLock); err != nil || d.Last() != nil && d.Last().Command.By != "Cleaning" {
			t.Errorf("the order was %+v, %v", d.Last(), err)
		}
		h.stop()
		if stored, err := os.ReadFile(filepath.Join(h.dir, agent.Database)); err != nil || bytes.Contains(stored, []byte("48392")) {
			t.Errorf("the database has the digits, %v", err)
		}
	})
}

// A card is no code, whatever its number: it is told as before, and not tried.
func TestCardIsNoCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, doors)
		for range 10 {
			if _, err := h.world.Control(aurora, "keypad", "card", "4711"); err != nil {
				t.Fatal(err)
			}
			h.pass(2 * time.Second)
		}
		h.code(agent.UnlockCodeSet{Name: "a", Code: "4711"})
		h.opens("4711")
		if types, _ := h.events(); types[len(types)-1] == "codeRefused" || !slices.Contains(types, "codeEntered") {
			t.Errorf("told %q", types)
		}
	})
}

// Who guesses gets few tries, whatever he does with the power and the clock,
// and nobody gets in meanwhile, not even with the right code.
func TestGuessing(t *testing.T) {
	for name, c := range map[string]struct {
		trust string
		over  bool // a restart while it is locked out gives time back
	}{"trusted clock": {"always", true}, "untrusted clock": {"never", false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := follows(t, doors, "always", c.trust)
				h.code(agent.UnlockCodeSet{Name: "a", Code: "483920"})
				for i := range 5 {
					h.types(fmt.Sprint(111110 + i))
					h.door(aurora, drivers.Closed)
					h.restart()
				}
				h.refused("483920", "locked out")
				for range 3 {
					h.restart()
					h.refused("483920", "locked out")
				}
				if wait, err := h.KeypadState(aurora); err != nil || wait <= 0 || wait > 20*time.Minute {
					t.Errorf("it is locked out for %v, %v", wait, err)
				}
				h.stop()
				time.Sleep(19 * time.Minute) // without power
				h.start()
				h.pass(time.Minute)
				h.types("483920")
				want := drivers.Closed
				if c.over {
					want = drivers.Open
				}
				h.door(aurora, want)
				h.pass(20 * time.Minute)
				h.opens("483920")
				if types, _ := h.events(); slices.Index(types, "codeLockout") < 0 {
					t.Errorf("nobody was told: %q", types)
				}
			})
		})
	}
}

// A day of guessing, as fast as the keypad takes it, is worth few tries, and
// costs the log few lines.
func TestDayOfGuessing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, doors)
		h.code(agent.UnlockCodeSet{Name: "a", Code: "4839"})
		tries := 0
		for begun := time.Now(); time.Since(begun) < 24*time.Hour; {
			if _, err := h.world.Control(aurora, "keypad", "code", fmt.Sprint(5000+tries)); err != nil {
				t.Fatal(err)
			}
			tries++
			h.pass(time.Minute)
		}
		types, text := h.events()
		judged := strings.Count(text, "no such code")
		if judged < 70 || judged > 77 {
			t.Errorf("%d of %d guesses were judged in a day", judged, tries)
		}
		if len(types) > 3*judged {
			t.Errorf("%d events", len(types))
		}
	})
}

func TestWhenCodesHold(t *testing.T) {
	for name, c := range map[string]struct {
		trust string
		from  time.Duration // from midnight; 0: always
		until time.Duration
		book  bool // from 00:30 to 01:00
		at    string
		play  func(h *house, id string)
		why   string // empty: it opens
	}{
		"always":                         {at: "00:20"},
		"always, by an untrusted clock":  {trust: "never", at: "00:20"},
		"within its time":                {from: 10 * time.Minute, until: time.Hour, at: "00:20"},
		"before its time":                {from: 30 * time.Minute, at: "00:20", why: "not valid yet"},
		"at its end":                     {until: 20 * time.Minute, at: "00:20", why: "not valid any more"},
		"in time by an untrusted clock":  {trust: "never", until: time.Hour, at: "00:20", why: "clock is not trusted"},
		"long before its booking":        {book: true, at: "00:19", why: "too early"},
		"before its booking":             {book: true, at: "00:20"},
		"in its booking":                 {book: true, at: "00:35"},
		"after its booking":              {book: true, at: "01:00", why: "booking is over"},
		"booking by an untrusted clock":  {trust: "never", book: true, at: "00:35", why: "clock is not trusted"},
		"of a booking that was released": {book: true, at: "00:45", why: "booking is over"},
		"of one that is checked in": {book: true, at: "00:45", play: func(h *house, id string) {
			h.at("00:32")
			h.checkIn(id)
		}},
		"of one that was cancelled": {book: true, at: "00:35", why: "booking is over", play: func(h *house, id string) {
			if _, err := h.Bookings.Cancel(context.Background(), id, schedule.Caller{}); err != nil {
				h.t.Fatal(err)
			}
		}},
		"of one that was moved": {book: true, at: "00:35", why: "too early", play: func(h *house, id string) {
			start := time.Now().UTC().Truncate(24 * time.Hour).Add(2 * time.Hour)
			end := start.Add(time.Hour)
			if _, err := h.Bookings.Change(context.Background(), id, booking.Edit{Start: &start, End: &end}, schedule.Caller{}); err != nil {
				h.t.Fatal(err)
			}
		}},
		"in a disabled room": {book: true, at: "00:35", why: "disabled", play: func(h *house, _ string) { h.hold(aurora, booking.Disabled) }},
		"for maintenance":    {at: "00:35", play: func(h *house, _ string) { h.hold(aurora, booking.Disabled) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				trust := c.trust
				if trust == "" {
					trust = "always"
				}
				h := follows(t, doors, "always", trust)
				set := agent.UnlockCodeSet{Name: "a", Code: "483920"}
				midnight := time.Now().Truncate(24 * time.Hour)
				if c.from > 0 {
					set.From = midnight.Add(c.from)
				}
				if c.until > 0 {
					set.Until = midnight.Add(c.until)
				}
				if c.book {
					set.BookingID = h.book(aurora, "00:30", "01:00")
				}
				h.code(set)
				if c.play != nil {
					c.play(h, set.BookingID)
				}
				h.at(c.at)
				if c.why != "" {
					h.refused("483920", c.why)
					return
				}
				h.opens("483920")
			})
		})
	}
}

// A lock that holds is opened for a while, but not locked behind a code while
// it is open for others.
func TestCodeAtALockThatHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, doors, "mode: pulse", "mode: hold")
		h.code(agent.UnlockCodeSet{Name: "a", Code: "483920"})
		h.opens("483920")
		h.orders(aurora, drivers.TypeLock, "", drivers.ActOpen, nil)
		h.types("483920")
		h.pass(time.Hour)
		h.door(aurora, drivers.Open)
	})
}

// A code whose lock is disabled, or away, opens nothing later.
func TestCodeIsNotMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, doors)
		h.code(agent.UnlockCodeSet{Name: "a", Code: "483920"})
		set := func(on bool) {
			if _, err := h.SetDevice(t.Context(), "lock", device.Settings{Enabled: &on}, false, "test"); err != nil {
				t.Fatal(err)
			}
			h.pass(5 * time.Second)
		}
		set(false)
		h.types("483920")
		set(true)
		h.pass(time.Minute)
		h.door(aurora, drivers.Closed)
		h.opens("483920")
	})
}

// The database alone does not tell a code, and codes of another secret do not
// hold.
func TestSecretIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := follows(t, doors)
		c := h.code(agent.UnlockCodeSet{Name: "a", Code: "483920"})
		path := filepath.Join(h.dir, agent.SecretFile)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("the secret: %v, %v", info, err)
		}
		for name, spoil := range map[string]func() error{
			"lost":    func() error { return os.Remove(path) },
			"damaged": func() error { return os.WriteFile(path, []byte("5\n"), 0o600) },
		} {
			h.stop()
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			h.start()
			h.refused("483920", "no such code")
			if why := h.UnlockCodeState(c); !strings.Contains(why, "another secret") {
				t.Errorf("%s: the code is %q", name, why)
			}
		}
		c = h.code(agent.UnlockCodeSet{Name: "a"})
		if why := h.UnlockCodeState(c); why != "" {
			t.Errorf("set anew it is %q", why)
		}
	})
}
