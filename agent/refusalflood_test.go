package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestRefusalsSilenceNobody: who sends now and then what is refused keeps the true cloud from no answer, until memory has no room for more. Its
// refused messages have a receipt, which says that it may be lost, and what a space lacks is asked for.
func TestRefusalsSilenceNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, h := startGuardedCloudy(t, rigOptions{dir: t.TempDir(), yaml: withDoor})
		r.hold(publicKey("cloud"))
		flood := func(of string, n int) {
			for i := range n {
				r.down("command", fmt.Sprint(of, i), `{}`, time.Now())
			}
			r.wait(time.Second)
		}
		flood("bad", 250)
		for i := range 20 {
			flood(fmt.Sprint("worse", i, "-"), 3)
			late := openDoor(fmt.Sprint("late", i), uint64(i+1))
			late.data = commandTo("lock", "open", `"expires_at":"`+time.Now().Add(-time.Second).UTC().Format(time.RFC3339)+`"`)
			r.bring(late)
			gap := fmt.Sprint("gap", i)
			r.down("schedule", gap, fmt.Sprintf(`{"meeting_space_id":%q,"kind":"delta","revision":%d,"bookings":[]}`, room, 100+i), time.Now())
			r.wait(time.Minute)
			if got := h.last(late.id); got != "expired expired the" {
				t.Errorf("a signed command that came too late hears %q", got)
			}
			if got := h.last(gap); got != "rejected conflict revision" {
				t.Errorf("a schedule that leaves a gap hears %q", got)
			}
		}
		if asked := strings.Count(strings.Join(r.told(), " "), "snapshotWanted"); asked < 15 || asked > 25 {
			t.Errorf("the cloud is asked for a snapshot %d times in 20 minutes, want once in each", asked)
		}
		if r.opened() != 0 {
			t.Errorf("the door was opened %d times", r.opened())
		}
	})
}

// TestWhatIsRefusedInAFloodStaysRefused: an id has one truth, also where the refusal was answered and not stored.
func TestWhatIsRefusedInAFloodStaysRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, h := startGuardedCloudy(t, rigOptions{dir: t.TempDir(), yaml: withDoor})
		r.hold(publicKey("cloud"))
		for i := range 250 {
			r.down("command", fmt.Sprint("bad", i), `{}`, time.Now())
		}
		kept := openDoor("kept", 1)
		kept.retained = true
		r.bring(kept)
		r.down("command", "forged", `{}`, time.Now())
		r.wait(time.Second)
		for _, id := range []string{"kept", "forged"} {
			first := h.last(id)
			if !strings.HasPrefix(first, "rejected") {
				t.Errorf("%s hears %q, want a refusal", id, first)
			}
			r.bring(openDoor(id, 2))
			r.wait(time.Minute) // more is stored by now
			r.bring(openDoor(id, 3))
			r.wait(time.Second)
			if got := h.last(id); !strings.HasPrefix(got, "rejected") {
				t.Errorf("%s hears %q after %q", id, got, first)
			}
		}
		if r.opened() != 0 {
			t.Errorf("the door was opened %d times", r.opened())
		}
	})
}
