package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestRefusalsSilenceNobody: who may publish and sends what is refused, without end, keeps the true cloud from no answer. Its
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
