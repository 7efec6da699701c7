package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// heldParts are how many rows of messages in parts are stored, and the bytes of the parts.
func (r *rig) heldParts() (sets, parts, bytes int) {
	r.t.Helper()
	err := r.db.View(func(tx *store.Tx) error {
		sets = store.NewTable[json.RawMessage]("message-parts").Len(tx)
		for _, row := range store.NewTable[struct{ Sealed []byte }]("message-part-data").All(tx) {
			parts, bytes = parts+1, bytes+len(row.Sealed)
		}
		return tx.Err()
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return sets, parts, bytes
}

// A broker that invents spaces and messages fills no disk: what it sends is bounded in
// bytes as well as in number.
func TestInventedPartsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		for i := range 10 {
			r.wait(time.Second)
			r.down("config", fmt.Sprint("space", i), fmt.Sprintf(`{"part":1,"of":1,"whole":"x","meeting_space_id":"s%d"}`, i), on(7, 0))
			r.down("schedule", fmt.Sprint("away", i), fmt.Sprintf(`{"kind":"snapshot","revision":1,"part":1,"of":2,"whole":"x","meeting_space_id":"s%d"}`, i), on(7, 0))
		}
		if sets, parts, _ := r.heldParts(); sets > 1 || parts > 1 {
			t.Errorf("of invented spaces %d messages and %d parts are stored", sets, parts)
		}
		if got := r.receipts("away9"); len(got) != 1 || got[0].Code != problem.NotFound {
			t.Errorf("receipts %+v", got)
		}
		filler := strings.Repeat("x", 2<<20)
		for i := range 5 {
			r.wait(time.Second)
			r.down("config", fmt.Sprint("large", i), fmt.Sprintf(`{"part":1,"of":%d,"whole":"l%d","filler":%q}`, 1+i%2, i, filler), on(7, 0))
		}
		if _, parts, bytes := r.heldParts(); parts == 0 || bytes > 2*cloud.MaxLarge+1<<10 {
			t.Errorf("%d parts of %d bytes are stored", parts, bytes)
		}
		for i := range 80 {
			r.wait(time.Second)
			r.down("schedule", fmt.Sprint("again", i), fmt.Sprintf(`{"meeting_space_id":%q,"kind":"odd","revision":1,"part":1,"of":1,"whole":"a%d"}`, room, i), on(7, 0))
		}
		if sets, _, _ := r.heldParts(); sets > 64+8 {
			t.Errorf("%d messages are remembered", sets)
		}
	})
}

// A revision stands in nobody's way before its message was accepted whole: neither one
// that was refused nor one of which parts are missing.
func TestRefusedRevisionIsInNobodysWay(t *testing.T) {
	for name, first := range map[string]string{"refused": `"part":1,"of":1`, "waiting": `"part":1,"of":2`} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := startRig(t, rigOptions{yaml: planned})
				r.down("config", "high-config", `{"revision":18446744073709551615,"spaces":7,`+first+`,"whole":"x"}`, on(7, 0))
				r.down("schedule", "high", fmt.Sprintf(`{"meeting_space_id":%q,"kind":"odd","revision":18446744073709551615,%s,"whole":"x"}`, room, first), on(7, 0))
				for i, part := range inParts(t, "w", "snapshot", 3) {
					r.down("schedule", fmt.Sprint("p", i), part, on(7, 0))
				}
				if got := r.shown(); len(got) != 8 {
					t.Errorf("bookings %q", got)
				}
				for _, retained := range []bool{false, true} {
					revision, whole := 7, fmt.Sprint("kept ", retained)
					if retained {
						revision++
					}
					for i := range 2 {
						id := fmt.Sprint(whole, i)
						e := cloud.Envelope{ID: id, Source: "backend", Type: "roomgate.config", Time: on(7, 0),
							Data: json.RawMessage(fmt.Sprintf(`{"revision":%d,"part":%d,"of":2,"whole":%q}`, revision, i+1, whole))}
						payload, _ := e.Encode()
						if err := r.Cloud.Receive(t.Context(), cloud.Message{Topic: r.topics().PartTopic(i + 1), Payload: payload, Retained: retained}); err != nil {
							t.Fatal(err)
						}
						if got := states(r.receipts(id)); i == 1 && !slices.Equal(got, []device.State{device.Accepted, device.Done}) {
							t.Errorf("%s: receipts %q", id, got)
						}
					}
				}
			})
		})
	}
}

// What was answered may come again under new ids, and is answered again.
func TestAnsweredPartsComeUnderNewIDs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: planned})
		for _, turn := range []string{"a", "b"} {
			for i, part := range inParts(t, "w", "snapshot", 3) {
				r.down("schedule", fmt.Sprint(turn, i), part, on(7, 0))
			}
		}
		if got, want := r.outcomes("a0", "b0", "b3"), []string{"a0 [accepted done]", "b0 [accepted done]", "b3 [accepted done]"}; !slices.Equal(got, want) {
			t.Errorf("receipts %q, want %q", got, want)
		}
	})
}
