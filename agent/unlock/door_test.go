package unlock

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

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/devicesecret"
	"roomgate/agent/schedule"
	"roomgate/drivers"
)

func TestCodeOpensItsDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		made := r.code(Request{Name: "Cleaning", Code: "483920"})
		r.opens("483920")
		r.refused("483921", "no such code")
		r.refused("48392", "no such code")
		r.refused("123", "not 4 to 10 digits")
		r.refused("48392048392", "not 4 to 10 digits")
		r.restart()
		r.opens("483920")
		if err := r.Delete(t.Context(), aurora, made.ID, "test"); err != nil {
			t.Fatal(err)
		}
		r.refused("483920", "no such code")
		types, text := r.events()
		for _, want := range []string{"unlockCodeCreated", "codeAccepted", "commandCompleted", "unlockCodeDeleted"} {
			if !slices.Contains(types, want) {
				t.Errorf("told %q, want %s too", types, want)
			}
		}
		if !strings.Contains(text, `"via":"keypad"`) || !strings.Contains(text, `"name":"Cleaning"`) || strings.Contains(text, "48392") {
			t.Errorf("events say %s", text)
		}
		if last := r.theLock().Last(); last != nil && last.Command.By != "Cleaning" {
			t.Errorf("the command was %+v", last)
		}
		r.stop()
		if stored, err := os.ReadFile(filepath.Join(r.dir, "test.db")); err != nil || bytes.Contains(stored, []byte("48392")) {
			t.Errorf("the database has the digits, %v", err)
		}
	})
}

// A card is no code, whatever its number: it is told as before, and not tried.
func TestCardIsNoCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		for range 10 {
			if _, err := r.world.Control(aurora, "keypad", "card", "4711"); err != nil {
				t.Fatal(err)
			}
			r.pass(2 * time.Second)
		}
		r.code(Request{Name: "a", Code: "4711"})
		r.opens("4711")
		if types, _ := r.events(); types[len(types)-1] == "codeRefused" || !slices.Contains(types, "codeEntered") {
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
				r := startRig(t, "always", c.trust)
				r.code(Request{Name: "a", Code: "483920"})
				for i := range 5 {
					r.types(fmt.Sprint(111110 + i))
					r.stands(drivers.Closed)
					r.restart()
				}
				r.refused("483920", "locked out")
				for range 3 {
					r.restart()
					r.refused("483920", "locked out")
				}
				if wait, err := r.LockedOut(aurora); err != nil || wait <= 0 || wait > 20*time.Minute {
					t.Errorf("it is locked out for %v, %v", wait, err)
				}
				r.stop()
				time.Sleep(19 * time.Minute) // without power
				r.start()
				r.pass(time.Minute)
				r.types("483920")
				want := drivers.Closed
				if c.over {
					want = drivers.Open
				}
				r.stands(want)
				r.pass(20 * time.Minute)
				r.opens("483920")
				if types, _ := r.events(); slices.Index(types, "codeLockout") < 0 {
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
		r := startRig(t)
		r.code(Request{Name: "a", Code: "4839"})
		tries := 0
		for begun := time.Now(); time.Since(begun) < 24*time.Hour; {
			if _, err := r.world.Control(aurora, "keypad", "code", fmt.Sprint(5000+tries)); err != nil {
				t.Fatal(err)
			}
			tries++
			r.pass(time.Minute)
		}
		types, text := r.events()
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
		play  func(r *rig, id string)
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
		"of one that is checked in": {book: true, at: "00:45", play: func(r *rig, id string) {
			r.at("00:32")
			r.checkIn(id)
		}},
		"of one that was cancelled": {book: true, at: "00:35", why: "booking is over", play: func(r *rig, id string) {
			if _, err := r.bookings.Cancel(context.Background(), id, schedule.Caller{}); err != nil {
				r.t.Fatal(err)
			}
		}},
		"of one that was moved": {book: true, at: "00:35", why: "too early", play: func(r *rig, id string) {
			start := time.Now().UTC().Truncate(24 * time.Hour).Add(2 * time.Hour)
			end := start.Add(time.Hour)
			if _, err := r.bookings.Change(context.Background(), id, booking.Edit{Start: &start, End: &end}, schedule.Caller{}); err != nil {
				r.t.Fatal(err)
			}
		}},
		"in a disabled room":   {book: true, at: "00:35", why: "disabled", play: func(r *rig, _ string) { r.hold(booking.Disabled) }},
		"for maintenance":      {at: "00:35", play: func(r *rig, _ string) { r.hold(booking.Disabled) }},
		"in a space of others": {at: "00:35", why: "another organization", play: func(r *rig, _ string) { r.owner.Store("other") }},
		"in nobody's space":    {at: "00:35", why: "another organization", play: func(r *rig, _ string) { r.owner.Store(""); r.restart() }},
		"in a space that came back": {at: "00:35", play: func(r *rig, _ string) {
			r.owner.Store("other")
			r.pass(time.Minute)
			r.owner.Store("acme")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				trust := c.trust
				if trust == "" {
					trust = "always"
				}
				r := startRig(t, "always", trust)
				set := Request{Name: "a", Code: "483920"}
				midnight := time.Now().Truncate(24 * time.Hour)
				if c.from > 0 {
					set.From = midnight.Add(c.from)
				}
				if c.until > 0 {
					set.Until = midnight.Add(c.until)
				}
				if c.book {
					set.BookingID = r.book("00:30", "01:00")
				}
				r.code(set)
				if c.play != nil {
					c.play(r, set.BookingID)
				}
				r.at(c.at)
				if c.why != "" {
					r.refused("483920", c.why)
					return
				}
				r.opens("483920")
			})
		})
	}
}

// A lock that holds is opened for a while, but not locked behind a code while
// it is open for others.
func TestCodeAtALockThatHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t, "mode: pulse", "mode: hold")
		r.code(Request{Name: "a", Code: "483920"})
		r.opens("483920")
		r.unlocks()
		r.types("483920")
		r.pass(time.Hour)
		r.stands(drivers.Open)
	})
}

// A code whose lock is disabled, or away, opens nothing later.
func TestCodeIsNotMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		r.code(Request{Name: "a", Code: "483920"})
		set := func(on bool) {
			if err := r.theLock().Change(t.Context(), device.Settings{Enabled: &on}, false, "test"); err != nil {
				t.Fatal(err)
			}
			r.pass(5 * time.Second)
		}
		set(false)
		r.types("483920")
		set(true)
		r.pass(time.Minute)
		r.stands(drivers.Closed)
		r.opens("483920")
	})
}

// The database alone does not tell a code, and codes of another secret do not
// hold.
func TestSecretIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t)
		c := r.code(Request{Name: "a", Code: "483920"})
		path := filepath.Join(r.dir, devicesecret.File)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("the secret: %v, %v", info, err)
		}
		for name, spoil := range map[string]func() error{
			"lost":    func() error { return os.Remove(path) },
			"damaged": func() error { return os.WriteFile(path, []byte("5\n"), 0o600) },
		} {
			r.stop()
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			r.start()
			r.refused("483920", "no such code")
			if why := r.WhyNot(c); !strings.Contains(why, "another secret") {
				t.Errorf("%s: the code is %q", name, why)
			}
		}
		c = r.code(Request{Name: "a"})
		if why := r.WhyNot(c); why != "" {
			t.Errorf("set again it is %q", why)
		}
	})
}
