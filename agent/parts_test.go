package agent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/cloud"
)

// inParts is a schedule of eight bookings, an hour each from 8:00, in four parts.
func inParts(t *testing.T, whole, kind string, revision int) (parts []string) {
	t.Helper()
	var slots []string
	for i := range 8 {
		slots = append(slots, slot(fmt.Sprintf("b%d", i), on(8+i, 0), on(9+i, 0)))
	}
	data := said("", kind, revision, strings.Join(slots, ",")).Data
	cut, err := cloud.Split(data, whole, len(data)/2)
	if err != nil || len(cut) != 4 {
		t.Fatalf("%d parts, %v", len(cut), err)
	}
	for _, part := range cut {
		parts = append(parts, string(part))
	}
	return parts
}

// outcomes are the states of the receipts of a message's parts, in the order of the log.
func (r *rig) outcomes(ids ...string) (all []string) {
	for _, id := range ids {
		all = append(all, strings.TrimSpace(id+" "+strings.ReplaceAll(fmt.Sprint(states(r.receipts(id))), "[]", "")))
	}
	return all
}

// A schedule in parts is applied once, whole, in whatever order and however often they
// come, and over restarts; each part is answered.
func TestScheduleInParts(t *testing.T) {
	for seed := range uint64(20) {
		bubble(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			dir := t.TempDir()
			r := startRig(t, rigOptions{yaml: planned, dir: dir})
			parts := inParts(t, "w1", "snapshot", 3)
			order := random.Perm(4)
			order = slices.Insert(order, random.IntN(4), order[random.IntN(4)]) // one twice
			seen := map[int]bool{}
			for _, i := range order {
				if random.IntN(3) == 0 { // the next start goes on
					r.stop()
					r = startRig(t, rigOptions{yaml: planned, dir: dir})
				}
				if len(r.shown()) != 0 && len(seen) < 4 {
					t.Fatalf("after %d of 4 parts bookings are there", len(seen))
				}
				r.down("schedule", fmt.Sprint("p", i), parts[i], on(7, 0))
				seen[i] = true
			}
			if got := r.shown(); len(got) != 8 {
				t.Errorf("%v: bookings %q", order, got)
			}
			if got, want := r.outcomes("p0", "p1", "p2", "p3"), []string{"p0 [accepted done]", "p1 [accepted done]", "p2 [accepted done]", "p3 [accepted done]"}; !slices.Equal(got, want) {
				t.Errorf("%v: receipts %q", order, got)
			}
			r.down("schedule", "p2", parts[2], on(7, 0)) // late, after all is done
			if got := r.outcomes("p2"); got[0] != "p2 [accepted done]" {
				t.Errorf("a part that came late: %q", got)
			}
			r.stop()
		})
	}
}

// shown are the ids of the bookings of the room.
func (r *rig) shown() (ids []string) {
	all, err := r.Bookings.List(room, time.Time{}, time.Time{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, b := range all {
		ids = append(ids, b.ID)
	}
	slices.Sort(ids)
	return ids
}

// A newer revision ends the wait for an older one, whose parts are refused,
// also those that come in between.
func TestNewerPartsOvertake(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		old, next := inParts(t, "w1", "snapshot", 3), inParts(t, "w2", "snapshot", 4)
		r.down("schedule", "o0", old[0], on(7, 0))
		r.down("schedule", "n0", next[0], on(7, 0))
		r.down("schedule", "o1", old[1], on(7, 0))
		for i, part := range next[1:] {
			r.down("schedule", fmt.Sprint("n", i+1), part, on(7, 0))
		}
		if got, want := r.outcomes("o0", "o1", "n0", "n3"), []string{"o0 [accepted rejected]", "o1 [accepted rejected]", "n0 [accepted done]", "n3 [accepted done]"}; !slices.Equal(got, want) {
			t.Errorf("receipts %q, want %q", got, want)
		}
		if got := r.shown(); len(got) != 8 {
			t.Errorf("bookings %q", got)
		}
		for i, part := range inParts(t, "w3", "snapshot", 2) { // all of an earlier revision
			r.down("schedule", fmt.Sprint("e", i), part, on(7, 0))
		}
		if got, want := r.outcomes("e0", "e3"), []string{"e0 [accepted rejected]", "e3 [accepted rejected]"}; !slices.Equal(got, want) {
			t.Errorf("receipts %q, want %q", got, want)
		}
	})
}

func TestPartsThatBelongToNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		for field, data := range map[string]string{
			"part":             `{"revision":1,"part":3,"of":2,"whole":"w"}`,
			"of":               `{"revision":1,"part":1,"of":129,"whole":"w"}`,
			"whole":            `{"revision":1,"part":1,"of":2}`,
			"data.part":        `{"revision":1,"part":"1","of":2}`,
			"kind":             `{"revision":1,"part":1,"of":2,"whole":"w","kind":"` + strings.Repeat("x", 65) + `"}`,
			"meeting_space_id": `{"revision":1,"part":1,"of":2,"whole":"w","meeting_space_id":"` + strings.Repeat("x", 65) + `"}`,
		} {
			r.down("schedule", field, data, on(7, 0))
		}
		for _, id := range []string{"part", "of", "whole", "kind", "meeting_space_id"} {
			r.refusedFor(id, id)
		}
		r.down("schedule", "large", `{"revision":1,"part":1,"of":2,"whole":"w","bookings":["`+strings.Repeat("x", 1<<20)+`"]}`, on(7, 0))
		r.refusedFor("large", "part")
		if got := states(r.receipts("data.part")); !slices.Equal(got, []device.State{device.Rejected}) {
			t.Errorf("receipts %q", got)
		}
		// More messages than may wait: the oldest is given up.
		for i := range 9 {
			r.wait(time.Second)
			r.down("schedule", fmt.Sprint("message", i), fmt.Sprintf(`{"meeting_space_id":%q,"revision":1,"kind":"snapshot","part":1,"of":2,"whole":"w%d"}`, room, i), on(7, 0))
		}
		if got, want := r.outcomes("message0", "message1"), []string{"message0 [accepted rejected]", "message1 [accepted]"}; !slices.Equal(got, want) {
			t.Errorf("receipts %q, want %q", got, want)
		}
	})
}

// A configuration in parts comes on topics of its own, which the broker keeps: each
// connection brings all of them, and nothing is written or answered again.
func TestConfigurationInParts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		r := startRig(t, rigOptions{dir: dir})
		parts, err := cloud.Split(json.RawMessage(`{"revision":7,`+wholeConfig+`}`), "w", 900)
		if err != nil || len(parts) < 2 {
			t.Fatalf("%d parts, %v", len(parts), err)
		}
		bring := func(retained bool) {
			for i, part := range parts {
				e := cloud.Envelope{ID: fmt.Sprint("c", i), Source: "backend", Type: "roomgate.config", Time: on(7, 0), Data: part}
				payload, _ := e.Encode()
				if err := r.Cloud.Receive(t.Context(), cloud.Message{Topic: r.topics().PartTopic(i + 1), Payload: payload, Retained: retained}); err != nil {
					t.Fatal(err)
				}
			}
		}
		bring(false)
		if got := r.outcomes("c0", "c1"); !slices.Equal(got, []string{"c0 [accepted done]", "c1 [accepted done]"}) {
			t.Fatalf("receipts %q", got)
		}
		if r.Site.Find(newRoom) == nil {
			t.Fatal("the space is not there")
		}
		r.stop()
		r = startRig(t, rigOptions{dir: dir})
		r.wait(time.Second)
		last := r.mustLast()
		bring(true)
		if got := r.mustLast(); got != last {
			t.Errorf("the kept parts wrote %d rows", got-last)
		}
	})
}
