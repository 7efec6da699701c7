package device

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device/refusal"
	"roomgate/drivers"
)

// TestRefusalsCostLittle floods the gateway with commands that are refused, each
// as large as a message may be: what they write is bounded, each and all.
func TestRefusalsCostLittle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := startRig(t, rigOptions{yaml: seldom})
		r.wait(5 * time.Second)
		large := json.RawMessage(`"` + strings.Repeat("x", 60<<10) + `"`)
		refuse := func(id string) {
			r.take(Command{ID: id, Space: strings.Repeat("nowhere", 1000), DeviceType: strings.Repeat("lock", 1000), Action: strings.Repeat("open", 1000),
				Value: large, By: strings.Repeat("me", 1000), SentAt: time.Now()})
		}
		before := r.db.Stats()
		const n = 3 * refusal.Burst
		for i := range n {
			refuse(fmt.Sprint("flood", i))
		}
		now := r.db.Stats()
		stored, all := now.Commits-before.Commits, now.BytesWritten-before.BytesWritten
		t.Logf("%d refusals: %d stored, %d bytes each of those", n, stored, all/refusal.Burst)
		if stored > refusal.Burst+1 || all/refusal.Burst > 22<<10 {
			t.Errorf("%d refusals took %d transactions and %d bytes", n, stored, all)
		}
		if got := r.receipts("flood0"); len(got) != 1 || got[0].State != Rejected || len(got[0].Reason) > 400 {
			t.Errorf("the first is answered with %+v", got)
		}
		if got := r.receipts(fmt.Sprint("flood", n-1)); len(got) != 0 {
			t.Errorf("the last is answered with %+v", got)
		}
		// What is no refusal is stored and answered as ever, and so is a refusal later.
		r.take(Command{ID: "good", Space: otherRoom, DeviceType: drivers.TypeLock, Action: drivers.ActOpen, SentAt: time.Now()})
		r.wait(2 * refusal.Every)
		if got := r.receipts("good"); len(got) == 0 || got[len(got)-1].State != Done {
			t.Errorf("a good command is answered with %+v", got)
		}
		refuse("later")
		if got := r.receipts("later"); len(got) != 1 {
			t.Errorf("a later refusal is answered with %+v", got)
		}
	})
}
