package console

import (
	"bytes"
	"testing"
	"time"

	"roomgate/agent/acceptance"
	"roomgate/agent/booking"
	"roomgate/agent/errand"
	"roomgate/agent/goldentest"
	"roomgate/agent/health"
	"roomgate/agent/plot"
	"roomgate/agent/web"
	"roomgate/drivers"
)

// golden compares a fragment with its file.
func golden(t *testing.T, name, template string, data any) {
	t.Helper()
	got, err := Render(template, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, inline := range []string{"style=", "<script>", "<b onclick", "javascript:"} {
		if bytes.Contains(got, []byte(inline)) {
			t.Errorf("%s has %s inline", name, inline)
		}
	}
	goldentest.Compare(t, name+".html", append(got, '\n'))
}

// hostile is a text that must not get out of its place.
const hostile = `<b onclick=x>'A' & "B"</b>`

var zone = time.FixedZone("CET", 3600)

func at(clock string) time.Time {
	t, err := time.ParseInLocation("2006-01-02 15:04", "2026-11-23 "+clock, zone)
	if err != nil {
		panic(err)
	}
	return t
}

func aurora() SpaceCard {
	return SpaceCard{ID: "7c0b2a54", Name: "Aurora", Place: "3.07, left of the lift", State: "busy", Word: "Busy", Until: "until 15:00", Climate: []string{"29.5 °C", "occupied"},
		Devices: []Chip{{Name: "Door", Value: "closed"}, {Name: "Light", Value: "on"}, {Name: "Room sensor", Offline: true, Why: "no answer"}}}
}

func TestOverview(t *testing.T) {
	cold := 20
	years := 3.2
	hot := health.Report{OutboxHours: 10, OutboxDepth: 3, UptimeS: 7200, DoorOrders: health.DoorsUnsigned}
	facts := []Fact{cloudFact(true, hot, 2*time.Hour), cloudFact(false, hot, 0), runwayFact(hot), clockFact(health.Clock{Now: at("14:20"), Reason: "unsynchronized"}, zone), clockFact(health.Clock{Now: at("14:20"), Trusted: true}, zone),
		diskFact(health.StoreState{DiskFreeBytes: 100 << 20, StoreBytes: 12_300_000}), cardFact(&health.Card{Name: "mmcblk0", UsedPercent: &cold, YearsEstimate: &years}), cardFact(nil)}
	v := Overview{System: true, Examined: "14:20", Spaces: []SpaceCard{aurora()}, Gateway: facts,
		Wrong: gravest([]Finding{{Name: "clock", State: "ok", Seen: "trusted"}, {Name: "rtc", State: "warn", Seen: "none", Fix: "fit one"}, {Name: "backup", State: "warn", Seen: "none", Fix: "roomgate backup FILE, and keep it"}, {Name: hostile, State: "fail", Seen: hostile, Fix: hostile}}, zone)}
	golden(t, "overview-wrong", "overview-wrong", v)
	golden(t, "overview-spaces", "overview-spaces", v)
	golden(t, "overview-gateway", "overview-gateway", v)
	golden(t, "overview-well", "overview-wrong", Overview{System: true, Examined: "14:20"})
	golden(t, "overview-stale", "overview-wrong", Overview{System: true, Examined: "14:20", Stale: "3 h"})
	golden(t, "overview-examining", "overview-wrong", Overview{System: true})
	golden(t, "overview-member", "overview-wrong", Overview{})
}

// TestFindingsHaveTheTimeOfTheBuilding: what the doctor says at the terminal is in UTC.
func TestFindingsHaveTheTimeOfTheBuilding(t *testing.T) {
	if got := gravest([]Finding{{State: "warn", Seen: "away since 2026-11-24T10:17:10Z, twice"}}, zone)[0].Seen; got != "away since 24 Nov 2026 11:17, twice" {
		t.Errorf("it says %q", got)
	}
}

func someDay(now string, all ...booking.Booking) Day {
	d := Day{SpaceID: "7c0b2a54", Title: "Monday 23 November 2026", Date: "2026-11-23", Prev: "2026-11-22", Next: "2026-11-24", Today: true, Books: true, date: at("00:00")}
	d.fill(all, at(now), zone)
	return d
}

func TestSpace(t *testing.T) {
	meeting := booking.Booking{ID: "b1", Title: hostile, Organizer: booking.Person{Name: "A. Person"}, Start: at("14:00"), End: at("15:30"), State: booking.CheckedIn}
	early := booking.Booking{ID: "b0", Start: at("06:10"), End: at("06:40"), State: booking.Ended, Source: booking.WalkUp}
	over := booking.Booking{ID: "b2", Private: true, Start: at("22:00"), End: at("22:00").Add(4 * time.Hour), State: booking.Booked}
	v := Space{Card: aurora(), Controls: true, Accepts: true, Day: someDay("14:20", early, meeting, over),
		Devices: []DeviceCard{
			{ID: "aurora-lock", SpaceID: "7c0b2a54", Type: "lock", Name: "Door", Enabled: true, Can: true, Readings: []Proof{{Value: "closed", Source: "sense line", Ago: "0.2 s"}}, Last: "open done, read back as open by sense line in 12 ms, at 14:03:11 via http"},
			{ID: "aurora-o3", SpaceID: "7c0b2a54", Type: "o3-sensor", Name: "Room sensor", Readings: []Proof{{Name: "temperature", Value: "29.5 °C", Bad: true, Source: "report", Ago: "4 s"}, {Name: "occupancy", Offline: true, Why: hostile}}},
			{ID: "aurora-camera", SpaceID: "7c0b2a54", Type: "camera", Name: "Camera", Enabled: true, Picture: &Picture{"/devices/7c0b2a54/snapshot", "14:19:58"}},
			{ID: "aurora-display", SpaceID: "7c0b2a54", Type: "meeting-room-display", Name: "Display", Enabled: true, Picture: &Picture{Path: "/meetingspace/7c0b2a54/screenshot"}}}}
	for _, part := range []string{"now", "day", "devices"} {
		golden(t, "space-"+part, "space-"+part, v)
	}
	v.Controls, v.Accepts = false, false
	golden(t, "space-devices-member", "space-devices", v)
}

func TestPlots(t *testing.T) {
	p := plot.New([]plot.Sample{{At: at("00:00"), Value: "19.5"}, {At: at("09:30"), Value: "22"}, {At: at("13:00"), Value: "29"}, {At: at("14:20"), Value: "28.5"}},
		[]plot.Sample{{At: at("09:00"), Value: "occupied"}, {At: at("10:00"), Value: "vacant"}, {At: at("14:00"), Value: "occupied"}}, at("00:00"), at("14:20"), 16, 28)
	golden(t, "space-plots", "space-plots", Space{Plots: p})
	golden(t, "space-plots-none", "space-plots", Space{Plots: plot.New(nil, nil, at("00:00"), at("14:20"), 16, 28)})
}

// TestDayHasItsRows: every booking is where it belongs, also across midnight.
func TestDayHasItsRows(t *testing.T) {
	d := someDay("14:20", booking.Booking{ID: "a", Start: at("07:00"), End: at("07:05"), State: booking.Booked}, booking.Booking{ID: "b", Start: at("18:45"), End: at("19:00"), State: booking.Booked},
		booking.Booking{ID: "c", Start: at("00:00").Add(-time.Hour), End: at("01:00"), State: booking.Ended}, booking.Booking{ID: "d", Start: at("23:00"), End: at("23:00").Add(3 * time.Hour), State: booking.Booked})
	if d.Rows != 24*4 || d.Now != 14*4+2 {
		t.Errorf("it has %d rows, now is %d", d.Rows, d.Now)
	}
	for i, want := range [][2]int{{29, 1}, {76, 1}, {1, 4}, {93, 4}} {
		if m := d.Meetings[i]; m.Row != want[0] || m.Span != want[1] {
			t.Errorf("%s is at %d over %d, want %v", m.ID, m.Row, m.Span, want)
		}
	}
	for _, f := range d.Free {
		if f.Text < "14:00" || f.Text == "18:30" || f.Text >= "23:00" {
			t.Errorf("%s is offered", f.Text)
		}
	}
}

func TestPanels(t *testing.T) {
	golden(t, "panel-book", "panel-book", Book{SpaceID: "7c0b2a54", Space: "Aurora", Day: "Monday 23 November 2026", Organizer: true, Undo: undoText("DELETE /v2.0/bookings/{id}", nil, "The booking is taken back."),
		Starts: []Choice{{"2026-11-23T14:15:00+01:00", "14:15", false}, {"2026-11-23T14:30:00+01:00", "14:30", true}}, Lengths: []Choice{{"30", "30 min", true}}})
	m := newMeeting(booking.Booking{ID: "b1", Title: hostile, Start: at("14:00"), End: at("15:00"), State: booking.Booked}, at("13:00"), zone)
	golden(t, "panel-booking-ahead", "panel-booking", BookingSheet{Meeting: m, SpaceID: "7c0b2a54", Revision: 2, CheckIn: true, Move: true, Stop: true, StopWord: "Cancel the booking",
		UndoStop: undoText("POST /v2.0/bookings", asMade(booking.Booking{SpaceID: "7c0b2a54", Title: hostile, Start: at("14:00"), End: at("15:00")}), "It is booked again.")})
	golden(t, "panel-booking-running", "panel-booking", BookingSheet{Meeting: m, Stop: true, StopWord: "End the meeting now"})
	golden(t, "panel-booking-over", "panel-booking", BookingSheet{Meeting: m})
	golden(t, "panel-control", "panel-control", Control{SpaceID: "7c0b2a54", Space: "Aurora", Type: "lock", Name: "Door", Summary: "a lock", Parts: []ControlPart{{Now: Proof{Value: "closed", Source: "sense line"}, Actions: []ControlAction{
		{Name: "close", Body: map[string]any{"device_type": "lock", "action": "close"}, Allowed: true},
		{Name: "open", Body: map[string]any{"device_type": "lock", "action": "open"}, Allowed: true, Sure: "Open the door now?", Fields: []Field{{ID: "f-open-seconds", Name: "value", Label: "open, 1 to 60 s", Kind: "number", Min: 1, Max: 60, Default: 5.0}}},
		{Name: "hold", Why: "is for admins"}}}}})
	golden(t, "panel-control-picture", "panel-control", Control{SpaceID: "7c0b2a54", Space: "Aurora", Name: "Display", Picture: &Picture{Path: "/meetingspace/7c0b2a54/screenshot"}})
}

func TestEvents(t *testing.T) {
	golden(t, "events-filter", "events-filter", Events{Spaces: []Choice{{"", "All", false}, {"7c0b2a54", "Aurora", true}}, Types: []Choice{{"", "All", false}}, Devices: []Choice{{"", "All", false}}})
	golden(t, "events-list", "events-list", Events{All: []EventRow{{7, "23 Nov 14:20:01", "Command completed", "Aurora / Light", hostile, "state: " + hostile}}})
	golden(t, "events-none", "events-list", Events{})
}

func TestAccept(t *testing.T) {
	steps := []errand.Step{{Device: drivers.TypeLock, Step: acceptance.Step{Name: "open", Result: acceptance.Passed, Seen: "open"}},
		{Device: drivers.TypeO3, Step: acceptance.Step{SubDevice: drivers.SubOccupancy, Name: "notices somebody who moves", Result: acceptance.Failed, Seen: "vacant", Note: "nobody was noticed"}}}
	devices := []Link{{"lock", "Door"}, {"light", "Light"}}
	asks := Accept{ID: "7c0b2a54", Name: "Aurora", Devices: devices, Walk: errand.Walk{SpaceID: "7c0b2a54", Space: "Aurora", By: "S. Installer", Asks: true, Asked: 3, Running: true, Steps: steps[:1], Question: "did the lock of Aurora click open?", Picture: "data:image/png;base64,AAAA"}}
	over := Accept{ID: "7c0b2a54", Name: "Aurora", Devices: devices, Walk: errand.Walk{By: hostile, Steps: steps, Verdict: "failed"}}
	for name, v := range map[string]Accept{"asks": asks, "over": over, "new": {ID: "7c0b2a54", Name: "Aurora", Devices: devices}, "stopped": {ID: "7c0b2a54", Walk: errand.Walk{Wrong: "It was stopped before its end."}}} {
		for _, part := range []string{"ask", "walk", "find"} {
			golden(t, "accept-"+part+"-"+name, "accept-"+part, v)
		}
	}
}

func TestFrame(t *testing.T) {
	f := frame{Name: "events", Sections: []Link{{"overview", "Overview"}, {"events", "Events"}}, Notices: []Notice{{hostile, "Set the clock."}}}
	golden(t, "nav", "nav", f)
	golden(t, "notice", "notice", f)
	golden(t, "shell", "shell", shell{Section: Section{Name: "events", Title: "Events", Parts: []string{"filter", "list"}}, Mail: true, State: "wait", Script: "/web/console.js", Style: "/web/console.css", Build: "b"})
}

// TestConsoleIsSmall holds what goes over the wire at first: 80 kB in all.
func TestConsoleIsSmall(t *testing.T) {
	all, _ := Render("shell", shell{})
	size := len(all)
	for _, name := range []string{"console.js", "console.css"} {
		a, ok := web.FindAsset(web.AssetName(name))
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		t.Logf("%s: %d bytes packed", name, len(a.Packed))
		size += len(a.Packed)
	}
	if size > 80_000-30_000 { // the rest is for what a page shows
		t.Errorf("it has %d bytes", size)
	}
}
