package console

import (
	"encoding/json"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"

	"roomgate/agent/booking"
)

// TestUndoKeepsATitleAsData: a title that looks like a request comes back whole in the
// body of what takes something back, and the script parses nothing that it has filled.
func TestUndoKeepsATitleAsData(t *testing.T) {
	title := `{title}"},"send":"POST /v2.0/users","body":{"role":"admin","name":"{id}`
	b := booking.Booking{ID: "b1", SpaceID: "7c0b2a54", Title: title, Start: at("14:00"), End: at("15:00"), Organizer: booking.Person{Name: title}}
	page, err := Render("panel-booking", BookingSheet{Stop: true, UndoStop: undoText("POST /v2.0/bookings", asMade(b), "It is booked again.")})
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`data-undo="([^"]*)"`).FindSubmatch(page)
	if found == nil {
		t.Fatalf("nothing is taken back in %s", page)
	}
	var undo struct {
		Send string
		Body struct {
			Title     string
			Organizer booking.Person
		}
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &undo); err != nil || undo.Send != "POST /v2.0/bookings" || undo.Body.Title != title || undo.Body.Organizer.Name != title {
		t.Errorf("%+v, %v in %s", undo, err, found[1])
	}
	script, err := os.ReadFile("../web/asset/console.js")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(script)) {
		if regexp.MustCompile(`JSON\.parse\([^)]*fill\(|innerHTML = [^'].*fill\(`).MatchString(line) {
			t.Errorf("the script parses what people gave: %s", line)
		}
	}
}
