package api

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/eventlog"
	"roomgate/agent/web"
)

// TestDoorWithoutTheInternet: with the cloud out of reach a door books and checks in, and says
// in one honest line since when what was booked elsewhere is missing.
func TestDoorWithoutTheInternet(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		at := "/display/" + aurora
		key, _ := b.paired(aurora, b.claim(aurora))
		time.Sleep(5 * time.Minute)
		since := b.agent.Now().Add(-b.agent.Cloud.Away())
		shown := b.net.do(t, "GET", at+"/stream", key).body
		want := "As of " + web.Clock(b.agent.Now().In(berlin()), false) + ". The cloud has been away since " + web.Clock(since.In(berlin()), false) + ": bookings made elsewhere are missing."
		if !strings.Contains(shown, want) || strings.Contains(shown, "data-lost") {
			t.Errorf("it shows %s, want %q", shown, want)
		}
		if got := b.net.do(t, "POST", at+"/do/book", key, `{"minutes":15}`); got.StatusCode != 200 || !strings.Contains(got.body, "Booked") {
			t.Errorf("book: %d %s", got.StatusCode, got.body)
		}
		start := b.agent.Now().UTC().Truncate(time.Hour).Add(time.Hour)
		made := b.book(meeting(start.Format("15:04"), start.Add(time.Hour).Format("15:04"), `,"title":"Review"`))
		time.Sleep(start.Add(time.Minute).Sub(b.agent.Now()))
		if got := b.net.do(t, "POST", at+"/do/check-in", key, `{"booking_id":"`+made.ID+`"}`); got.StatusCode != 200 || !strings.Contains(got.body, "You are checked in") {
			t.Errorf("check in: %d %s", got.StatusCode, got.body)
		}
		if got := b.net.do(t, "GET", at+"/stream", key); !strings.Contains(got.body, `"state":"busy"`) {
			t.Errorf("then it shows %s", got.body)
		}
	}, toBeClaimed)
}

// berlin is the zone of the rooms.
func berlin() *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return zone
}

// TestDoorAtNight: the page is dark at the hours that the configuration says, unless somebody
// is in the room.
func TestDoorAtNight(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		key, _ := b.paired(aurora, b.claim(aurora))
		theme := func(want string) {
			t.Helper()
			if got := b.net.do(t, "GET", "/display/"+aurora+"/stream", key).body; !strings.Contains(got, `"theme":"`+want+`"`) {
				t.Errorf("at %s it is not %s: %s", b.agent.Now().In(berlin()).Format("15:04"), want, got[strings.LastIndex(got, "event: head"):])
			}
		}
		theme("night") // it is one in the morning
		b.move("aurora", "occupancy", "occupied")
		time.Sleep(3 * time.Second)
		theme("day")
		b.move("aurora", "occupancy", "vacant")
		time.Sleep(20 * time.Minute) // a sensor sees nobody for a while first
		theme("night")
		time.Sleep(7 * time.Hour)
		theme("day")
	}, func(c *config.Config) { c.Spaces[0].Display.Night = "19:00-07:00" })
}

// TestRemovedRoom: the page of a room that is taken away ends, and says what it is.
func TestRemovedRoom(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		s := setsUp{b, t, b.atConsole()}
		s.do("space", `{"name":"Delta","timezone":"Europe/Berlin"}`, "")
		delta := s.space("Delta")
		key, _ := b.paired(delta, b.claim(delta))
		if got := b.net.do(t, "GET", "/display/"+delta+"/stream", key); got.StatusCode != 200 || !strings.Contains(got.body, "Delta") {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		s.do("remove", `{"space":"`+delta+`"}`, "")
		if got := b.net.do(t, "GET", "/display/"+delta+"/stream", key); got.StatusCode != 401 && got.StatusCode != 404 {
			t.Errorf("it reads on: %d %s", got.StatusCode, got.body)
		}
		if got := b.net.do(t, "GET", "/display/"+delta); got.StatusCode != 404 || !strings.Contains(got.body, "No such room in this building") || strings.Contains(got.body, "<script") {
			t.Errorf("its page: %d %s", got.StatusCode, got.body)
		}
	})
}

// TestBeatsAgree: what a page is told when it is paired, what a display is told when it is
// registered, and what its driver waits for fit together: it never flaps.
func TestBeatsAgree(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		var paired struct {
			Key   string
			BeatS int `json:"heartbeat_s"`
		}
		var registered struct {
			Response struct {
				BeatS int `json:"heartbeat_s"`
			}
		}
		for body, into := range map[string]any{b.net.do(t, "POST", "/display/"+borealis+"/pair", `{"code":"`+b.claim(borealis)+`"}`).body: &paired,
			b.net.do(t, "POST", "/edge/register", `{"meeting_space_id":"`+borealis+`","claim_code":"`+b.claim(borealis)+`","kind":"display"}`).body: &registered} {
			if err := json.Unmarshal([]byte(body), into); err != nil {
				t.Fatal(err)
			}
		}
		if paired.BeatS == 0 || paired.BeatS != registered.Response.BeatS {
			t.Fatalf("a page beats every %d s, a display every %d s", paired.BeatS, registered.Response.BeatS)
		}
		beat := func() {
			if got := b.net.do(t, "POST", "/edge/heartbeat", "X-API-Key: "+paired.Key, `{}`); got.StatusCode != 200 {
				t.Fatalf("%d %s", got.StatusCode, got.body)
			}
		}
		for range 6 { // what was never there is asked ever more seldom
			beat()
			time.Sleep(time.Duration(paired.BeatS) * time.Second)
		}
		before := strings.Count(b.ask("GET", "/devices/events?event_type=deviceOffline").body, `"device":"meeting-room-display"`)
		for i := range 120 {
			if i%10 != 9 { // one in ten is lost
				beat()
			}
			time.Sleep(time.Duration(paired.BeatS) * time.Second)
		}
		if after := strings.Count(b.ask("GET", "/devices/events?event_type=deviceOffline&limit=200").body, `"device":"meeting-room-display"`); after != before {
			t.Errorf("it was offline %d times", after-before)
		}
	})
}

// TestNobodySawIt: since when somebody is there is said only of what the gateway has seen itself.
func TestNobodySawIt(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		key, _ := b.paired(aurora, b.claim(aurora))
		why := func() string {
			time.Sleep(2 * time.Minute)
			return b.net.do(t, "GET", "/display/"+aurora+"/panel/why", key).body
		}
		time.Sleep(2 * time.Minute)
		b.move("aurora", "occupancy", "occupied")
		if page := why(); !strings.Contains(page, "Somebody has been in the room since") {
			t.Errorf("somebody came: %s", page)
		}
		b.move("aurora", "o3-sensor", "unplug")
		time.Sleep(2 * time.Minute)
		b.move("aurora", "o3-sensor", "plug")
		time.Sleep(time.Minute)
		if page := why(); strings.Contains(page, " since ") || !strings.Contains(page, "the sensor reported") {
			t.Errorf("the sensor was away: %s", page)
		}
	})
	at := time.Unix(1e9, 0)
	changed, online := eventlog.Event{Type: "occupancyChanged", Time: at, Boot: "b"}, eventlog.Event{Type: "deviceOnline", Time: at, Boot: "b"}
	for what, c := range map[string]struct {
		found []eventlog.Event
		boot  string
		began time.Duration
		want  time.Time
	}{
		"seen":                     {[]eventlog.Event{changed}, "b", -time.Hour, at},
		"before the gateway began": {[]eventlog.Event{changed}, "c", -time.Hour, time.Time{}},
		"found at the start":       {[]eventlog.Event{changed}, "b", -time.Second, time.Time{}},
		"found so":                 {[]eventlog.Event{online, changed}, "b", -time.Hour, time.Time{}},
		"away since":               {[]eventlog.Event{changed, online}, "b", -time.Hour, time.Time{}},
		"never":                    {nil, "b", -time.Hour, time.Time{}},
	} {
		if got := sinceOf(c.found, c.boot, at.Add(c.began)); !got.Equal(c.want) {
			t.Errorf("%s: since %s", what, got)
		}
	}
}

// TestNobodySawItWhileTheGatewayWasOff: neither the door nor the day of the console tells that time as one with people, or
// without.
func TestNobodySawItWhileTheGatewayWasOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBuilding(t)
		b.serve()
		key, _ := b.paired(aurora, b.claim(aurora))
		b.move("aurora", "occupancy", "occupied")
		time.Sleep(time.Hour)
		b.end()
		time.Sleep(2 * time.Hour)
		again := prepareIn(t, b.dir)
		again.run()
		defer func() { again.end() }()
		again.serve()
		time.Sleep(5 * time.Minute)
		if page := again.net.do(t, "GET", "/display/"+aurora+"/panel/why", key).body; strings.Contains(page, " since ") || !strings.Contains(page, "the sensor reported") {
			t.Errorf("the door says %s", page)
		}
		page := again.net.do(t, "GET", "/console/stream/space?id="+aurora, again.atConsole()).body
		said := regexp.MustCompile(`people were seen for ([0-9]+) min, not known before [0-9:]+, not known for ([0-9]+) min`).FindStringSubmatch(page)
		if said == nil || len(said[1]) > 2 || len(said[2]) != 3 {
			t.Errorf("the day says %q: %s", said, page)
		}
	})
}
