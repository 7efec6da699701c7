package web

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/booking"
	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var berlin = func() *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return zone
}()

// at is a time of the day of the tests.
func at(clock string) time.Time {
	t, err := time.ParseInLocation("2006-01-02 15:04", "2026-11-23 "+clock, berlin)
	if err != nil {
		panic(err)
	}
	return t
}

// meeting is one of that day.
func meeting(id, from, until string, state booking.State) booking.Booking {
	b := booking.Booking{ID: id, SpaceID: "aurora", Title: "Review of " + id, Organizer: booking.Person{Name: "Ada <Lovelace>"},
		Start: at(from).UTC(), End: at(until).UTC(), State: state, Revision: 1, Source: booking.Local, CreatedAt: at("07:00").UTC()}
	if state == booking.CheckedIn {
		b.CheckedInAt = b.Start.Add(2 * time.Minute)
	}
	return b
}

// room is Aurora at a time, with meetings.
func room(now string, all ...booking.Booking) View {
	rules := booking.Default()
	rules.Zone = berlin
	v := View{SpaceID: "aurora", Name: "Aurora", Place: "3.07", Now: at(now), ClockTrusted: true, Rules: rules, Today: all, ShowTitles: true,
		Presence: "vacant", Lock: &Device{Value: "closed"}, Light: &Device{Value: "off"}, Look: Look{Language: "en"}}
	v.State = rules.StateAt(v.Now, booking.NewSchedule(all), nil)
	if v.State.Status == booking.Available {
		v.State.NextAvailable = time.Time{}
	}
	return v
}

// with is a view with a change.
func with(v View, change func(*View)) View { change(&v); return v }

// walkedIn is Aurora in the minute in which somebody has booked it at the door.
func walkedIn(clock string, state booking.State) View {
	start, _ := time.ParseInLocation("2006-01-02 15:04:05", "2026-11-23 "+clock, berlin)
	b := booking.Booking{ID: "walk", SpaceID: "aurora", Start: start.UTC(), End: start.Add(30 * time.Minute).UTC(), State: state, Revision: 1, Source: booking.WalkUp}
	b.CheckedInAt = b.Start
	if state == booking.Ended {
		b.End = start.Add(5 * time.Second).UTC()
	}
	v := room("14:20", b)
	v.State = v.Rules.StateAt(start.Add(6*time.Second), booking.NewSchedule([]booking.Booking{b}), nil)
	v.State.NextAvailable = time.Time{}
	return v
}

// views are every state of a page, by the names of their golden files.
func views() map[string]View {
	later := meeting("later", "16:00", "17:00", booking.Booked)
	soon := meeting("soon", "14:10", "15:00", booking.Booked)
	running := meeting("running", "14:00", "15:00", booking.CheckedIn)
	private := with(room("14:20", meeting("p", "14:00", "15:00", booking.CheckedIn)), func(v *View) {
		v.State.Current.Private, v.Today[0].Private = true, true
	})
	hold := with(room("14:00"), func(v *View) {
		v.Hold = &booking.Hold{ID: "h", Status: booking.Disabled, From: at("13:00"), Until: at("18:00"), Note: "painters <b>"}
		v.State.Status = booking.Disabled
	})
	return map[string]View{
		"free":         room("14:00", meeting("early", "09:00", "10:00", booking.Ended), later),
		"free-all-day": room("14:00"),
		"free-short":   room("14:00", meeting("m", "14:20", "15:00", booking.Booked)),
		"reserved":     room("14:05", soon, later),
		"checkin":      room("14:13", soon, later),
		"early":        room("14:05", meeting("early", "14:10", "15:00", booking.CheckedIn), later),
		"busy":         room("14:20", running, later),
		"ending":       room("14:56", running, later),
		"ending-tight": room("14:56", running, meeting("tight", "15:00", "16:00", booking.Booked)),
		"extend-short": room("14:40", running, meeting("close", "15:10", "16:00", booking.Booked)),
		"extend-some":  room("14:56", running, meeting("close", "15:20", "16:00", booking.Booked)),
		"private":      private,
		"hidden":       with(room("14:20", running), func(v *View) { v.ShowTitles = false }),
		"disabled":     hold,
		"hold-meeting": with(room("14:20", running), func(v *View) {
			v.Hold = &booking.Hold{ID: "h", Status: booking.Disabled, From: at("13:00"), Until: at("18:00")}
			v.State.Status = booking.Disabled
		}),
		"out-of-use":    with(room("14:00"), func(v *View) { v.State.Status = booking.Disabled }),
		"cloud-away":    with(room("14:03", later), func(v *View) { v.CloudAway = at("13:20") }),
		"untrusted":     with(room("14:20", running, later), func(v *View) { v.ClockTrusted, v.CloudAway = false, at("13:20") }),
		"twelve":        with(room("14:20", running, later), func(v *View) { v.Look.Twelve = true }),
		"night":         with(room("22:00"), func(v *View) { v.Night = true }),
		"mono":          with(room("14:20", running), func(v *View) { v.Look.Theme = ThemeMono }),
		"door-unknown":  with(room("14:00"), func(v *View) { v.Lock.Offline, v.Light = true, nil }),
		"locked-ajar":   with(room("14:00"), func(v *View) { v.Leaf = &Device{Value: "ajar"} }),
		"unlocked-shut": with(room("14:00"), func(v *View) { v.Lock.Value, v.Leaf = "open", &Device{Value: "shut"} }),
		"leaf-unknown":  with(room("14:00"), func(v *View) { v.Lock.Offline, v.Leaf = true, &Device{Value: "shut", Offline: true} }),
		"no-walk-ups":   with(room("14:00", later), func(v *View) { v.Rules.AllowCurrent = false }),
		"no-check-in":   with(room("14:20", meeting("n", "14:00", "15:00", booking.Booked)), func(v *View) { v.Rules.CheckIn = false; v.State.Status = booking.Occupied }),
		"walked-in":     walkedIn("14:20:40", booking.CheckedIn),
		"walked-out":    walkedIn("14:20:40", booking.Ended),
		"hostile-title": with(room("14:20", running), func(v *View) { v.State.Current.Title = "\u202e<script>alert(1)</script>" + strings.Repeat("😀", 100) }),
	}
}

// golden compares a page with what it was.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	goldentest.Compare(t, name+".html", got)
}

// page is all that a door page shows, region by region.
func page(t *testing.T, v View) []byte {
	t.Helper()
	parts, head, err := RenderDoor(v)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, p := range parts {
		out.WriteString("<!-- " + p.Name + " -->\n")
		out.Write(p.HTML)
		out.WriteByte('\n')
	}
	shown := head.(Head)
	if shown.Build != build() || shown.Build == "" {
		t.Errorf("it is of the build %q", shown.Build)
	}
	shown.Build = "" // it changes with every change of the script
	text, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	out.WriteString("<!-- head " + string(text) + " -->\n")
	return out.Bytes()
}

func TestDoor(t *testing.T) {
	for name, v := range views() {
		got := page(t, v)
		golden(t, name, got)
		if !v.ClockTrusted && strings.ContainsFunc(string(got), func(r rune) bool { return r == ':' }) && timeOfDay.Match(got) {
			t.Errorf("%s shows a time of a clock that is not trusted: %s", name, timeOfDay.Find(got))
		}
		if bytes.Contains(got, []byte("<script")) || bytes.Contains(got, []byte(" style=")) || bytes.Contains(got, []byte(" on")) && inline.Match(got) {
			t.Errorf("%s has something inline that the policy refuses", name)
		}
	}
}

// TestLanguages keeps the states that people see most, in every language.
func TestLanguages(t *testing.T) {
	for _, language := range Languages[1:] {
		for _, name := range []string{"checkin", "busy", "ending", "untrusted", "cloud-away"} {
			golden(t, language+"-"+name, page(t, with(views()[name], func(v *View) { v.Look.Language = language })))
		}
		why, err := RenderWhy(with(views()["busy"], func(v *View) { v.Look.Language = language }), Evidence{Sensed: true, SensedAgo: 4 * time.Second, Since: at("13:58"),
			Things: []Thing{{Name: "lock", Value: "closed", Source: "order", Ago: 200 * time.Millisecond}, {Name: "light", Offline: true}}})
		if err != nil {
			t.Fatal(err)
		}
		golden(t, language+"-panel-why", append(why, '\n'))
	}
}

func TestTitlesAreHidden(t *testing.T) {
	for _, name := range []string{"private", "hidden"} {
		if got := page(t, views()[name]); bytes.Contains(got, []byte("Review")) || bytes.Contains(got, []byte("Ada")) {
			t.Errorf("%s tells %s", name, got)
		}
	}
}

// sums are in the names of assets.
var sums = regexp.MustCompile(`\b[0-9a-f]{12}\b`)

// quarters are so many offers in a row from 14:15 on.
func quarters(n int) (all []Offer) {
	for i := range n {
		all = append(all, Offer{at("14:15").Add(time.Duration(i) * 15 * time.Minute), LaterLengths})
	}
	return all
}

func TestPanels(t *testing.T) {
	all := views()
	evidence := Evidence{Sensed: true, SensedAgo: 4 * time.Second, Since: at("13:58"), Things: []Thing{
		{Name: "door", Value: "ajar", Source: "contact line", Ago: 200 * time.Millisecond},
		{Name: "lock", Value: "open", Source: "sense line", Ago: 200 * time.Millisecond},
		{Name: "light", Offline: true}}}
	keep := func(name string) func([]byte, error) {
		return func(got []byte, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "panel-"+name, append(got, '\n'))
		}
	}
	for _, name := range []string{"free", "reserved", "checkin", "busy", "disabled", "untrusted", "no-check-in"} {
		keep("why-" + name)(RenderWhy(all[name], evidence))
	}
	keep("later")(RenderLater(all["free"], []Offer{{at("14:30"), LaterLengths}, {at("15:30"), LaterLengths[:1]}}, time.Time{}, false))
	keep("later-hours")(RenderLater(all["free"], quarters(12), time.Time{}, true))
	keep("later-from")(RenderLater(all["free"], quarters(12), at("15:00"), true))
	keep("later-last")(RenderLater(all["free"], quarters(12), at("16:15"), true))
	keep("later-none")(RenderLater(all["busy"], nil, time.Time{}, false))
	keep("later-booked")(RenderBooked(all["free"], []booking.Booking{meeting("b", "16:00", "17:00", booking.Booked)}))
	keep("rooms")(RenderRooms(all["busy"], []Room{{Name: "Occupied", Seen: true}, {Name: "Short", Until: at("15:00"), Capacity: 4}, {Name: "Long", Place: "3.11"}}))
	keep("report")(RenderReport(all["busy"]))
	keep("phone")(RenderPhone(all["busy"], "http://192.0.2.1:8080/display/aurora#code=ABCD-EFGH", 15*time.Minute))
	keep("booked")(RenderDone(all["free"], DoBook, meeting("b", "14:00", "14:30", booking.CheckedIn)))
	keep("reported")(RenderDone(all["free"], DoReport, booking.Booking{}))
	taken := problem.New(problem.Conflict, "start_time", "is not free")
	taken.Busy = &problem.Interval{Start: at("14:00"), End: at("15:00")}
	keep("taken")(RenderRefusal(with(all["busy"], func(v *View) { v.State.NextAvailable = at("15:00") }), taken))
	keep("refused")(RenderRefusal(all["busy"], problem.New(problem.NotNow, "", "secret detail")))
	shell, err := RenderShell("aurora", "Aurora <3>", "en", "http://192.0.2.1:8080/console/displays?id=aurora")
	keep("shell")(sums.ReplaceAll(shell, []byte("SUM")), err)
	none, err := RenderNone()
	keep("none")(sums.ReplaceAll(none, []byte("SUM")), err)
}
