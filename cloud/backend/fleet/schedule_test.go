package fleet

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// A schedule that a gateway refuses as invalid shows why, and is not sent again; another one is.
func TestRefusedScheduleShows(t *testing.T) {
	t.Parallel()
	g, came := answering(t, "rejected")
	f, stop := start(t, filepath.Join(t.TempDir(), "fleet.db"), g.URL())
	defer stop()
	until(t, f, "/gateways", "played") // so it hears: nothing is missed
	g.Online()
	g.Scheduled(room, 4)
	until(t, f, "/gateways", room)
	for range 2 {
		if status, answer := ask(f, "secret", http.MethodPut, "/gateways/played/schedules/"+room, `{"bookings":[{"id":"x1","title":5}]}`); status != 200 {
			t.Fatalf("%d %s", status, answer)
		}
		until(t, f, "/schedules", `"state":"rejected","code":"invalid","reason":"it was played so"`)
	}
	if n := len(came()); n != 2 {
		t.Errorf("two schedules were sent %d times", n)
	}
	all, err := f.Schedules()
	if err != nil || len(all) != 1 || due(all[0], f.Gateways()[0].Gateway, tried{}, time.Now()) {
		t.Errorf("%v: a schedule that was refused is due: %+v", err, all)
	}
}
