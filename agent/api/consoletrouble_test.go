package api

import (
	"strings"
	"testing"
	"time"
)

// TestConsoleTellsOfTroublesInRooms: a device that has failed to do what it was told, and what people at a door have reported,
// are among what needs somebody, the latter for a day.
func TestConsoleTellsOfTroublesInRooms(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		who := b.atConsole()
		page := func(name string) string { return b.net.do(t, "GET", "/console/stream/"+name, who).body }
		failed := []string{`<li class="card fail"><h3>Fault: Aurora, Door</h3><p>Its last command: open failed`, `<li class="off">Door: locked, door shut, last command failed</li>`}
		reported := []string{"Warning: Aurora, a problem was reported</h3>", ": Light, from page at the door: light off; lock closed"}
		for _, text := range append(failed, reported...) {
			if got := page("overview"); strings.Contains(got, text) {
				t.Fatalf("before, the overview says %q: %s", text, got)
			}
		}
		b.move("aurora", "lock", "jam")
		b.order(`{"device_type":"lock","action":"open"}`)
		key, _ := b.paired(aurora, b.claim(aurora))
		for range 2 {
			b.net.do(t, "POST", "/display/"+aurora+"/do/report", key, `{"what":"light"}`)
		}
		got := page("overview")
		for _, text := range append(failed, reported...) {
			if strings.Count(got, text) != 1 {
				t.Errorf("the overview does not say %q once: %s", text, got)
			}
		}
		if got := page("space?id=" + aurora); !strings.Contains(got, `<p class="small bad">Last: open failed`) {
			t.Errorf("the page of the space is %s", got)
		}
		if got := page("events"); !strings.Contains(got, reported[1][2:]) || !strings.Contains(got, "From 192.0.2.7<") {
			t.Errorf("the events are %s", got)
		}
		time.Sleep(24 * time.Hour)
		if got := b.net.do(t, "GET", "/console/stream/overview", b.atConsole()).body; strings.Contains(got, reported[0]) {
			t.Errorf("a day later the overview is %s", got)
		}
	})
}
