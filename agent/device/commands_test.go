package device

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/device/devicetest"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/drivers"
	"roomgate/store"
)

func lightOn(id string) Command {
	return Command{ID: id, Space: room, DeviceType: drivers.TypeLight, Action: drivers.ActOn, Via: ViaHTTP}
}

func TestCommandIsProvedAndDoneOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		receipt, err := r.Do(t.Context(), lightOn("c1"))
		if err != nil || receipt.State != Done || receipt.Evidence == nil || receipt.Evidence.Record != (Record{"light", "on", "online"}) {
			t.Fatalf("receipt %+v, %v, want done with the read-back", receipt, err)
		}
		if got := r.status(room, drivers.TypeLight, ""); got.Value != drivers.On {
			t.Errorf("status %v right after the receipt, want on", got)
		}
		again, err := r.Do(t.Context(), lightOn("c1"))
		if err != nil || again.FinishedAt != receipt.FinishedAt {
			t.Errorf("the same id again: %+v, %v, want the first receipt", again, err)
		}
		other := lightOn("c1")
		other.Action = drivers.ActOff
		if _, err := r.Do(t.Context(), other); AsError(err).Code != problem.Conflict {
			t.Errorf("the same id for another command: %v, want %s", err, problem.Conflict)
		}
		if done := r.bench["light-1"].Effects(); !slices.Equal(done, []string{"on"}) {
			t.Errorf("took effect: %q, want once", done)
		}
		if told := r.told(); !slices.Equal(told[len(told)-2:], []string{"statusChanged light", "commandCompleted light"}) {
			t.Errorf("told %q", told)
		}
	})
}

func TestCommandsOfOneIdAtTheSameInstant(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if receipt, err := r.Do(t.Context(), lightOn("same")); err != nil || receipt.State != Done {
					t.Errorf("receipt %+v, %v", receipt, err)
				}
			})
		}
		all.Wait()
		if done := r.bench["light-1"].Effects(); len(done) != 1 {
			t.Errorf("took effect %d times, want once", len(done))
		}
	})
}

func TestRefusedCommandNamesTheFieldAndChangesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		for name, c := range map[string]struct {
			command Command
			code    problem.Code
			field   string
		}{
			"space":      {Command{Space: "nowhere", DeviceType: "light", Action: "on"}, problem.NotFound, "meeting_space_id"},
			"type":       {Command{Space: room, DeviceType: "lock", Action: "open"}, problem.NotFound, "device_type"},
			"sub-device": {Command{Space: room, DeviceType: "light", SubDevice: "bulb", Action: "on"}, problem.NotFound, "sub_device"},
			"action":     {Command{Space: room, DeviceType: "light", Action: "explode"}, problem.Invalid, "action"},
			"value":      {Command{Space: room, DeviceType: "light", Action: "intensity", Value: json.RawMessage(`101`)}, problem.Invalid, "value"},
			"no value":   {Command{Space: room, DeviceType: "light", Action: "intensity"}, problem.Invalid, "value"},
			"a value":    {Command{Space: room, DeviceType: "light", Action: "on", Value: json.RawMessage(`1`)}, problem.Invalid, "value"},
			"expired":    {Command{Space: room, DeviceType: "light", Action: "on", ExpiresAt: time.Now().Add(-time.Second)}, problem.Expired, ""},
			"long id":    {Command{ID: string(make([]byte, 201)), Space: room, DeviceType: "light", Action: "on"}, problem.Invalid, "id"},
		} {
			commits := r.db.Stats().Commits
			_, err := r.Do(t.Context(), c.command)
			if e := AsError(err); e == nil || e.Code != c.code || e.Field != c.field {
				t.Errorf("%s: %v, want %s of %q", name, err, c.code, c.field)
			}
			if r.db.Stats().Commits != commits {
				t.Errorf("%s: something was stored", name)
			}
		}
		if done := r.bench["light-1"].Effects(); len(done) > 0 {
			t.Errorf("took effect: %q", done)
		}
	})
}

func TestFailuresOfACommand(t *testing.T) {
	for fault, want := range map[string]problem.Code{"ignore": problem.NotFollowed, "vanish": problem.Unavailable, "panic": problem.Unavailable, "hang": problem.Unavailable} {
		t.Run(fault, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startRig(t, rigOptions{})
				r.wait(time.Second)
				r.bench["light-1"].Set(fault)
				receipt, err := r.Do(t.Context(), lightOn("c1"))
				if err != nil || receipt.State != Failed || receipt.Code != want || receipt.Evidence != nil {
					t.Errorf("receipt %+v, %v, want failed with %s", receipt, err, want)
				}
				r.bench["light-1"].Set("")
				close(r.bench["light-1"].Release)
				r.wait(time.Minute)
				if receipt, err = r.Do(t.Context(), lightOn("c2")); err != nil || receipt.State != Done {
					t.Errorf("after the fault: %+v, %v, want done", receipt, err)
				}
			})
		})
	}
}

func TestLaneIsBoundedAndWaitingCommandsExpire(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		r.wait(time.Second)
		r.bench["light-1"].Set("hang")
		outcomes := map[State]int{}
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				c := lightOn("")
				c.TTL = time.Duration(i+1) * 100 * time.Millisecond // all end before the hanging one does
				receipt, err := r.Do(t.Context(), c)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					outcomes[State(AsError(err).Code)]++
				} else {
					outcomes[receipt.State]++
				}
			})
		}
		all.Wait()
		if outcomes[ExpiredUnused] == 0 || outcomes[ExpiredUnused] > laneOfOne+1 || len(r.bench["light-1"].Effects()) > 0 {
			t.Errorf("outcomes %v, effects %q: want at most %d expired, the others refused, none carried out", outcomes, r.bench["light-1"].Effects(), laneOfOne+1)
		}
		close(r.bench["light-1"].Release)
	})
}

func TestInterruptedCommandIsFailedNotRepeated(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := devicetest.NewBench()
		r := startRig(t, rigOptions{bench: b})
		r.wait(time.Second)
		// What a crash leaves behind: accepted and stored, no outcome.
		c := lightOn("c1")
		c.Via = ViaMQTT
		o := &Pending{from: originOf(c), command: c, receipt: Receipt{CommandID: "c1", State: Accepted, ReceivedAt: time.Now().UTC()}}
		if err := r.db.Update(t.Context(), func(tx *store.Tx) error { return r.storeAccepted(tx, o) }); err != nil {
			t.Fatal(err)
		}
		r = r.again()
		r.wait(time.Second)
		receipt, err := r.Do(t.Context(), c)
		if err != nil || receipt.State != Failed {
			t.Errorf("receipt %+v, %v, want failed", receipt, err)
		}
		if done := b["light-1"].Effects(); len(done) > 0 {
			t.Errorf("took effect after the restart: %q", done)
		}
		var states []State
		for _, got := range r.receipts("c1") {
			states = append(states, got.State)
		}
		if !slices.Equal(states, []State{Accepted, Failed}) {
			t.Errorf("receipts in the log %q, want accepted and failed", states)
		}
		told, _, err := r.events.Find(eventlog.Filter{Type: "commandCompleted", SpaceID: room, DeviceType: drivers.TypeLight, Limit: 10})
		if err != nil || len(told) != 1 || !strings.Contains(string(told[0].Record), `"command_id":"c1","reason":"the gateway stopped`) {
			t.Errorf("told of it: %+v, %v, want once", told, err)
		}
	})
}

// TestInterruptedCommandOfADeviceThatIsGone: it is over all the same.
func TestInterruptedCommandOfADeviceThatIsGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{})
		c := lightOn("c1")
		c.Space = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4aff"
		o := &Pending{from: originOf(c), command: c, receipt: Receipt{CommandID: "c1", State: Accepted}}
		if err := r.db.Update(t.Context(), func(tx *store.Tx) error { return r.storeAccepted(tx, o) }); err != nil {
			t.Fatal(err)
		}
		r = r.again()
		if receipt, err := r.Do(t.Context(), c); err != nil || receipt.State != Failed {
			t.Errorf("receipt %+v, %v, want failed", receipt, err)
		}
	})
}

func TestDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		now, defaults := time.Now(), config.Default()
		at := func(s int) time.Time { return now.Add(time.Duration(s) * time.Second) }
		for _, c := range []struct {
			name               string
			command            Command
			trusted, untrusted int // seconds from now
		}{
			{"nothing said", Command{}, 30, 30},
			{"sent long ago", Command{SentAt: at(-40)}, -10, 30},
			{"sent in the future", Command{SentAt: at(3600)}, 30, 30},
			{"ttl", Command{TTL: 5 * time.Second}, 5, 5},
			{"ttl from sending", Command{TTL: 5 * time.Second, SentAt: at(-3)}, 2, 5},
			{"expiry", Command{ExpiresAt: at(10)}, 10, 30},
			{"expiry past", Command{ExpiresAt: at(-10)}, -10, -10},
			{"expiry and sending", Command{ExpiresAt: at(10), SentAt: at(-10)}, 10, 20},
			{"expired when sent", Command{ExpiresAt: at(-20), SentAt: at(-10)}, -20, -10},
			{"expiry and ttl", Command{ExpiresAt: at(10), TTL: 5 * time.Second}, 5, 5},
			{"expiry before ttl", Command{ExpiresAt: at(3), SentAt: now, TTL: 5 * time.Second}, 3, 3},
		} {
			for trust, want := range map[string]int{"always": c.trusted, "never": c.untrusted} {
				j := judge{now, trust == "always", defaults.Cloud.CommandTTL}
				if got := j.end(c.command).Sub(now); got != time.Duration(want)*time.Second {
					t.Errorf("%s, clock trusted %s: %v, want %d s", c.name, trust, got, want)
				}
			}
		}
	})
}

func TestDiskFullRefusesOrdersAndGoesOnReading(t *testing.T) {
	const id = "command-on-a-full-disk"
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: strings.Replace(building, "events: 500", "events: 500, max_size: 8MiB", 1)})
		r.wait(time.Second)
		fillDatabase(t, r)
		_, err := r.Do(t.Context(), lightOn(id))
		if AsError(err) == nil || AsError(err).Code != problem.Full {
			t.Errorf("command on a full disk: %v, want %s", err, problem.Full)
		}
		done := len(r.bench["light-1"].Effects()) // one, if the disk took the command and not its outcome
		r.bench["light-1"].Show("", drivers.On)
		r.wait(4 * time.Second)
		if got := r.status(room, drivers.TypeLight, ""); got.Value != drivers.On {
			t.Errorf("status %v, want it live on a full disk", got)
		}
		if _, _, err := r.events.Find(eventlog.Filter{}); err != nil {
			t.Errorf("reading events on a full disk: %v", err)
		}
		emptyDatabase(t, r)
		r.wait(2 * time.Minute)
		if told := r.told(); !slices.Contains(told, "statusChanged light") {
			t.Errorf("told %q, want what waited in memory", told)
		}
		if receipt, err := r.Do(t.Context(), lightOn(id)); err != nil || receipt.State != Done {
			t.Errorf("after space came back: %+v, %v", receipt, err)
		}
		if all := len(r.bench["light-1"].Effects()); all != 1 {
			t.Errorf("took effect %d times, %d of them on the full disk, want once", all, done)
		}
	})
}

// fillDatabase leaves no room even for a small row. Each size has a table of
// its own: a page of large rows is large itself.
func fillDatabase(t *testing.T, r *rig) {
	t.Helper()
	for _, size := range []int{256 << 10, 2 << 10} {
		for i := 0; ; i++ {
			err := r.db.Update(context.Background(), func(tx *store.Tx) error {
				return store.NewTable[[]byte](fmt.Sprint("ballast", size)).Put(tx, fmt.Sprintf("%06d", i), make([]byte, size))
			})
			if err != nil {
				break
			}
		}
	}
	// The rows of these are smaller than those of any command that comes later, and
	// fill the same pages: their ids ascend and come before.
	for i := 0; ; i++ {
		o := &Pending{from: fromCaller, command: Command{ID: fmt.Sprintf("b%06d", i)}, receipt: Receipt{State: Done}}
		if r.db.Update(context.Background(), func(tx *store.Tx) error { return r.storeAccepted(tx, o) }) != nil {
			return
		}
	}
}

func emptyDatabase(t *testing.T, r *rig) {
	t.Helper()
	err := r.db.Update(context.Background(), func(tx *store.Tx) error {
		ballast, keys := store.NewTable[[]byte]("ballast262144"), []string{}
		for key := range ballast.All(tx) {
			keys = append(keys, key)
		}
		for _, key := range keys {
			if err := ballast.Delete(tx, key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
