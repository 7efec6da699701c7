package agent

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/clock"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/message"
	rules "roomgate/agent/rule"
	"roomgate/agent/schedule"
	"roomgate/agent/unlock"
	"roomgate/agent/webhook"
	"roomgate/drivers"
	"roomgate/store"
)

const tenYears = 10 * 365 * 24 * time.Hour

// timed has one of everything that has a time.
const timed = `
gateway: {id: test}
clock: {trust: always}
push: {url: "https://push.test", token: tk_of-the-building, topic: "rooms-{user_id}"}
users:
  - {id: ada, email: ada@example.com, name: Ada, role: admin, push_topic: ada-phone}
spaces:
  - id: ` + room + `
    name: Aurora
    customer_id: ` + owner + `
    devices:
      - {id: light-1, type: light, driver: scripted, poll: 20s, timeout: 1s, options: {name: light-1}}
      - {id: lock-1, type: lock, driver: scripted-lock, poll: 20s, timeout: 1s, options: {name: light-2}}
  - {id: ` + otherRoom + `, name: Borealis}
`

// absent is a network that is not there.
type absent struct{}

func (absent) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no network")
}

func openTimed(t *testing.T, dir string) *rig {
	t.Helper()
	b := newBench()
	c, err := config.Parse("test.yaml", []byte(timed), b.kinds())
	if err != nil {
		t.Fatal(err)
	}
	nowhere := &http.Client{Transport: absent{}}
	a, err := Open(t.Context(), Options{Config: c, Buses: &noBuses{}, DataDir: dir, SystemKey: "key", Version: "test", Simulated: true,
		Webhooks: nowhere, Push: nowhere})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Agent: a, t: t, bench: b, stop: func() {}}
	r.run()
	r.wait(time.Second)
	return r
}

// withTimes makes one of everything that has a time, and returns the ids of
// unlock codes: one that is good now, and one that is ten years later.
func (r *rig) withTimes() (now, later string) {
	r.t.Helper()
	ctx, at := context.Background(), r.Now().Truncate(time.Hour)
	must := func(err error) {
		r.t.Helper()
		if err != nil {
			r.t.Fatal(err)
		}
	}
	for id, hours := range map[string]time.Duration{"soon": 5, "tomorrow": 24, "month": 30 * 24, "cancelled": 10} {
		start := at.Add(hours * time.Hour)
		r.book(id, start, start.Add(time.Hour))
	}
	_, err := r.Bookings.Cancel(ctx, "cancelled", schedule.Caller{})
	must(err)
	for _, h := range []booking.Hold{{Status: booking.Reserved, From: at.Add(6 * time.Hour), Until: at.Add(7 * time.Hour)},
		{Status: booking.Disabled, From: at.Add(48 * time.Hour), Until: at.Add(72 * time.Hour)}} {
		_, err := r.Bookings.Hold(ctx, room, h)
		must(err)
	}
	good, _, _, err := r.Unlock.Set(ctx, room, unlock.Request{Name: "now", Until: at.AddDate(0, 1, 0)}, "test")
	must(err)
	late, _, _, err := r.Unlock.Set(ctx, room, unlock.Request{Name: "later", From: at.AddDate(9, 0, 0), Until: at.AddDate(11, 0, 0)}, "test")
	must(err)
	_, _, err = r.Access.CreateKey(ctx, "for a year", at.AddDate(1, 0, 0))
	must(err)
	_, _, err = r.Access.CreateOrgKey(ctx, owner, "for a day", []string{"bookings:read"}, at.AddDate(0, 0, 1))
	must(err)
	_, _, err = r.Webhooks.Create(ctx, webhook.Request{OrganizationID: owner, URL: "https://one.example.com/", Events: []string{webhook.BookingCreated}})
	must(err)
	r.book("told", at.Add(20*time.Hour), at.Add(21*time.Hour))
	_, err = r.Messages.Send(ctx, message.Request{To: message.To{UserID: "ada"}, Title: "a", Body: "b", Source: message.FromAPI, ExpiresAt: at.AddDate(0, 0, 2)}, "")
	must(err)
	_, err = r.Rules.Create(ctx, rules.Rule{Name: "light", Enabled: true, SpaceID: room, Trigger: rules.Trigger{Booking: rules.BookingStart},
		Actions: []rules.Action{{DeviceType: drivers.TypeLight, Action: drivers.ActOn}}})
	must(err)
	_, err = r.Commands.Do(ctx, device.Command{ID: "c1", Space: room, DeviceType: drivers.TypeLight, Action: drivers.ActOff})
	must(err)
	r.wait(2 * time.Minute)
	return good.ID, late.ID
}

// rows are all rows of the tables in which something can be gone or changed by
// time. Deliveries and runs of rules are there, their attempts do not count.
func (r *rig) rows() map[string]string {
	r.t.Helper()
	all := map[string]string{}
	err := r.db.View(func(tx *store.Tx) error {
		rowsOf(tx, all, "booking", bookingRows, nil)
		rowsOf(tx, all, "plan", planRows, nil)
		rowsOf(tx, all, "code", store.NewTable[json.RawMessage]("unlock-codes"), nil)
		rowsOf(tx, all, "key", store.NewTable[map[string]any]("api-keys"), func(k map[string]any) any { delete(k, "last_used_at"); return k })
		rowsOf(tx, all, "webhook", webhookRows, func(w map[string]any) any { return []any{w["state"], w["sealed"]} })
		rowsOf(tx, all, "delivery", deliveryRows, func(d webhook.Delivery) any { return d.State })
		rowsOf(tx, all, "message", storedMessages, func(m storedMessage) any { return m.Push.State })
		rowsOf(tx, all, "signing", store.NewTable[json.RawMessage]("signing-keys"), nil)
		rowsOf(tx, all, "command", storedCommands, nil)
		rowsOf(tx, all, "command", recentCommands, nil) // wherever a command is, it is remembered
		rowsOf(tx, all, "rule", store.NewTable[map[string]any]("rules"), nil)
		rowsOf(tx, all, "run", store.NewTable[map[string]any]("rule-runs"), nil)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

func rowsOf[T any](tx *store.Tx, all map[string]string, name string, table store.Table[T], part func(T) any) {
	for key, v := range table.All(tx) {
		var what any = v
		if part != nil {
			what = part(v)
		}
		text, err := json.Marshal(what)
		if err != nil {
			text = []byte(err.Error())
		}
		all[name+" "+strings.TrimPrefix(key, "over/")] = string(text)
	}
}

// wantRows checks that nothing is gone, added or changed.
func (r *rig) wantRows(what string, want map[string]string) {
	r.t.Helper()
	got := r.rows()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			r.t.Errorf("%s: %s is %s, was %s", what, key, got[key], want[key])
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			r.t.Errorf("%s: %s is new: %s", what, key, got[key])
		}
	}
}

// wantNothingOpened checks that no jump made a code good or gave an order.
func (r *rig) wantNothingOpened(what, now, later string) {
	r.t.Helper()
	codes, err := r.Unlock.List(room)
	if err != nil || len(codes) != 2 {
		r.t.Fatalf("%s: codes %v, %v", what, codes, err)
	}
	for _, c := range codes {
		if why := r.Unlock.WhyNot(c); (why == "") != (c.ID == now && r.clock.Trust() == clock.Trusted) {
			r.t.Errorf("%s: the code %s (later is %s): %q", what, c.Name, later, why)
		}
	}
	for _, name := range []string{"light-1", "light-2"} {
		if done := r.bench[name].effects(); len(done) > 1 || len(done) == 1 && done[0] != drivers.ActOff {
			r.t.Errorf("%s: %s was told to %v", what, name, done)
		}
	}
}

// A clock that jumps while the building runs: nothing is gone, nothing is
// released or ended, nothing is opened; when it is back all goes on.
func TestNothingIsLostByAJump(t *testing.T) {
	for name, jumps := range map[string][]time.Duration{
		"ahead":         {tenYears},
		"back":          {-tenYears},
		"to and fro":    {tenYears, -tenYears, tenYears},
		"by 26 hours":   {26 * time.Hour, -26 * time.Hour},
		"to 1970, 9999": {-30 * 365 * 24 * time.Hour, 290 * 365 * 24 * time.Hour},
		"to 2038":       {time.Unix(1<<31, 0).Sub(on(0, 0))},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := openTimed(t, t.TempDir())
				now, later := r.withTimes()
				before := r.rows()
				for _, by := range jumps {
					if err := r.MoveClock(by, true); err != nil {
						t.Fatal(err)
					}
					r.wait(70 * time.Minute)
					r.wantRows("jumped by "+by.String(), before)
					r.wantNothingOpened("jumped by "+by.String(), now, later)
					if s, err := r.Bookings.State(room); err != nil || s.TimeTrust != clock.Untrusted || s.Time != eventlog.Stamp(time.Now()) {
						t.Errorf("jumped by %v: the sign says %+v, %v, want the time that was lived through, not trusted", by, s, err)
					}
					if h := r.Health.Report().Clock; h.Trusted || h.Reason != "jumped" || h.JumpS != int64(by.Seconds()) {
						t.Errorf("jumped by %v: health says %+v", by, h)
					}
				}
				if err := r.MoveClock(0, false); err != nil {
					t.Fatal(err)
				}
				r.wait(time.Minute)
				r.wantRows("back", before)
				r.wantNothingOpened("back", now, later)
				if got := r.gatewayEvents(); got != "clockJumped clockBelieved" {
					t.Errorf("told %q", got)
				}
				r.until(on(6, 30))
				if b := r.booking("soon"); b.State != booking.Released {
					t.Errorf("afterwards time goes on: %+v", b)
				}
				r.wantStored()
			})
		})
	}
}

// gatewayEvents are the kinds of events about the gateway, oldest first.
func (r *rig) gatewayEvents() string {
	var kinds []string
	for _, line := range r.logged(eventlog.LevelEvent) {
		if kind := strings.TrimPrefix(line.Type, "event."); strings.HasPrefix(kind, "clock") {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, " ")
}

// The control: time that is lived through does what a jump must not do. But it
// too deletes nothing: that takes time in which the gateway ran.
func TestLivedTimeEndsAndReleases(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := openTimed(t, t.TempDir())
		now, _ := r.withTimes()
		before := r.rows()
		if err := r.MoveClock(tenYears, false); err != nil {
			t.Fatal(err)
		}
		r.wait(time.Minute)
		for _, id := range []string{"soon", "tomorrow", "month"} {
			if b := r.booking(id); b.Live() {
				t.Errorf("%s is %s", id, b.State)
			}
		}
		if c, _ := r.Unlock.List(room); r.Unlock.WhyNot(c[slices.IndexFunc(c, func(c unlock.Code) bool { return c.ID == now })]) != "not valid any more" {
			t.Error("a code holds after its time")
		}
		for key := range before {
			if _, ok := r.rows()[key]; !ok && !strings.HasPrefix(key, "signing") {
				t.Errorf("%s is gone", key)
			}
		}
	})
}

// A machine that starts ten years later or earlier than it stopped: its clock
// is not trusted, and what is stored stays. A weekend is no jump.
func TestNothingIsLostByAJumpAtARestart(t *testing.T) {
	dir := t.TempDir()
	var before map[string]string
	var now, later string
	bubble(t, func(t *testing.T) {
		r := openTimed(t, dir)
		now, later = r.withTimes()
		before = r.rows()
		r.stop()
		time.Sleep(tenYears)
		r = openTimed(t, dir)
		r.wait(10 * time.Minute)
		r.wantRows("ten years later", before)
		r.wantNothingOpened("ten years later", now, later)
		if trust := r.clock.Trust(); trust != clock.Untrusted {
			t.Errorf("ten years later: %s", trust)
		}
	})
	bubble(t, func(t *testing.T) { // begins where the first has begun
		time.Sleep(time.Hour)
		r := openTimed(t, dir)
		r.wait(time.Minute)
		r.wantRows("back", before)
		r.wantNothingOpened("back", now, later)
		if trust := r.clock.Trust(); trust != clock.Trusted {
			t.Errorf("back: %s", trust)
		}
		r.stop()
		time.Sleep(62 * time.Hour)
		r = openTimed(t, dir)
		r.wait(20 * time.Minute)
		if b := r.booking("soon"); b.State != booking.Released && b.State != booking.Ended {
			t.Errorf("after a weekend: %+v", b)
		}
		if trust := r.clock.Trust(); trust != clock.Trusted {
			t.Errorf("after a weekend: %s", trust)
		}
		r.stop()
	})
	dir = filepath.Join(t.TempDir(), "second")
	bubble(t, func(t *testing.T) {
		time.Sleep(tenYears)
		r := openTimed(t, dir)
		now, later = r.withTimes()
		before = r.rows()
	})
	bubble(t, func(t *testing.T) {
		r := openTimed(t, dir)
		r.wait(10 * time.Minute)
		r.wantRows("ten years earlier", before)
		r.wantNothingOpened("ten years earlier", now, later)
		if s, err := r.Bookings.State(room); err != nil || s.TimeTrust != clock.Untrusted || r.Now().Year() != 2009 {
			t.Errorf("ten years earlier: the sign says %+v, %v", s, err)
		}
	})
}
