package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/edge"
	"roomgate/agent/schedule"
	"roomgate/agent/web"
)

// doorScript is the name of the script of a page at a door.
var doorScript = web.AssetName("door.js")

// paired pairs a page by a code, and returns the header of its key.
func (b *building) paired(space, code string) (header, kind string) {
	b.t.Helper()
	got := b.net.do(b.t, "POST", "/display/"+space+"/pair", `{"code":"`+code+`"}`)
	var answer struct{ Key, Kind string }
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil || got.StatusCode != 201 {
		b.t.Fatalf("pair: %d %s", got.StatusCode, got.body)
	}
	return "X-API-Key: " + answer.Key, answer.Kind
}

// TestDoorPage pairs a page, reads what it shows, and uses its buttons.
func TestDoorPage(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		at := "/display/" + aurora
		if got := b.net.do(t, "GET", at); got.StatusCode != 200 || !strings.Contains(got.body, doorScript) ||
			!strings.Contains(got.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") || strings.Contains(got.Header.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("the page: %d %v %s", got.StatusCode, got.Header, got.body)
		}
		if got := b.net.do(t, "GET", "/display/"+nowhere); got.StatusCode != 404 || !strings.Contains(got.body, "No such room") {
			t.Errorf("of no room: %d %s", got.StatusCode, got.body)
		}
		if got := b.net.do(t, "POST", at+"/pair", `{"code":"wrong"}`); got.StatusCode != 403 || !strings.Contains(got.body, "Have a new one made") {
			t.Errorf("a wrong code: %d %s", got.StatusCode, got.body)
		}
		code := b.claim(aurora)
		checkProblem(t, "a foreign origin pairs", b.net.do(t, "POST", at+"/pair", `{"code":"`+code+`"}`, "Origin: https://evil.example"), 403, "forbidden", "Origin")
		key, kind := b.paired(aurora, code)
		if kind != "display" {
			t.Errorf("it is a %s", kind)
		}
		if got := b.net.do(t, "GET", at+"/stream", key); !strings.Contains(got.body, "Free") || !strings.Contains(got.body, `"state":"free"`) {
			t.Errorf("it shows %s", got.body)
		}
		if got := b.net.do(t, "GET", "/display/"+borealis+"/stream", key); got.StatusCode != 404 {
			t.Errorf("another room: %d %s", got.StatusCode, got.body)
		}
		if got := b.net.do(t, "POST", at+"/do/book", key, `{"minutes":30}`); got.StatusCode != 200 || !strings.Contains(got.body, "Booked") {
			t.Errorf("book: %d %s", got.StatusCode, got.body)
		}
		if got := b.net.do(t, "POST", at+"/do/book", key, `{"minutes":15}`); got.StatusCode != 409 || !strings.Contains(got.body, "Somebody was faster") {
			t.Errorf("book again: %d %s", got.StatusCode, got.body)
		}
		shown := b.net.do(t, "GET", at+"/stream", key).body
		id := regexp.MustCompile(`booking_id&#34;:&#34;([^&]+)`).FindStringSubmatch(shown)
		if id == nil || !strings.Contains(shown, "In use") {
			t.Fatalf("it shows %s", shown)
		}
		for _, do := range []string{"extend", "end"} {
			if got := b.net.do(t, "POST", at+"/do/"+do, key, `{"booking_id":"`+id[1]+`"}`); got.StatusCode != 200 {
				t.Errorf("%s: %d %s", do, got.StatusCode, got.body)
			}
		}
		if got := b.net.do(t, "GET", at+"/stream", key); !strings.Contains(got.body, `"state":"free"`) {
			t.Errorf("at the end it shows %s", got.body)
		}
		if got := b.net.do(t, "POST", at+"/do/book", key, `{"minutes":15}`, "Origin: https://evil.example"); got.StatusCode != 403 {
			t.Errorf("a foreign origin: %d", got.StatusCode)
		}
		if got := b.net.do(t, "POST", "/devices/"+aurora+"/action", key, `{"device_type":"lock","action":"open"}`); got.StatusCode != 403 {
			t.Errorf("it opens the door: %d", got.StatusCode)
		}
		if got := b.ask("GET", "/devices/events?event_type=problemReported"); strings.Contains(got.body, "problemReported") {
			t.Errorf("reported before: %s", got.body)
		}
		b.net.do(t, "POST", at+"/do/report", key, `{"what":"light"}`)
		if got := b.ask("GET", "/devices/events?event_type=problemReported"); !strings.Contains(got.body, `"problem":"light"`) || !strings.Contains(got.body, `"lock":"closed"`) {
			t.Errorf("reported: %s", got.body)
		}
	})
}

// TestPhoneAtTheDoor: a phone is let in by a code that a display has shown, once, for
// a quarter of an hour, and lets nobody in.
func TestPhoneAtTheDoor(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		at := "/display/" + aurora
		display, _ := b.paired(aurora, b.claim(aurora))
		got := b.net.do(t, "POST", at+"/do/phone", display)
		link := scanned(t, got.body)
		_, code, _ := strings.Cut(link, "#code=")
		if code == "" || !strings.Contains(link, at) {
			t.Fatalf("the link is %q", link)
		}
		phone, kind := b.paired(aurora, code)
		if kind != "phone" {
			t.Errorf("it is a %s", kind)
		}
		if again := b.net.do(t, "POST", at+"/pair", `{"code":"`+code+`"}`); again.StatusCode != 403 {
			t.Errorf("the code is good twice: %d", again.StatusCode)
		}
		for path, want := range map[string]int{"/stream": 200, "/panel/why": 200, "/panel/rooms": 200, "/panel/later": 200, "/panel/nothing": 404} {
			if got := b.net.do(t, "GET", at+path, phone); got.StatusCode != want {
				t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
			}
		}
		if got := b.net.do(t, "POST", at+"/do/phone", phone); got.StatusCode != 403 {
			t.Errorf("it lets another phone in: %d %s", got.StatusCode, got.body)
		}
		if got := b.net.do(t, "POST", "/edge/heartbeat", phone, `{}`); got.StatusCode != 403 {
			t.Errorf("it beats for the display: %d %s", got.StatusCode, got.body)
		}
		if got := b.net.do(t, "POST", "/edge/control", phone, `{"meeting_space_id":"`+aurora+`","device_type":"light","on":true}`); got.StatusCode != 403 {
			t.Errorf("it switches the light: %d %s", got.StatusCode, got.body)
		}
		time.Sleep(15 * time.Minute)
		if got := b.net.do(t, "GET", at+"/stream", phone); got.StatusCode != 401 {
			t.Errorf("after its time: %d", got.StatusCode)
		}
	})
}

// TestOnlyDisplaysLetPhonesIn: who holds another key lets nobody in, or the phone
// would have rights that he has not; and a phone reads no longer than its display.
func TestOnlyDisplaysLetPhonesIn(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		at := "/display/" + aurora
		if got := b.ask("POST", at+"/do/phone"); got.StatusCode != 403 {
			t.Errorf("an admin lets a phone in: %d %s", got.StatusCode, got.body)
		}
		display, _ := b.paired(aurora, b.claim(aurora))
		_, code, _ := strings.Cut(scanned(t, b.net.do(t, "POST", at+"/do/phone", display).body), "#code=")
		phone, _ := b.paired(aurora, code)
		its := b.agent.Edges.List()[0].ID
		for _, kind := range []string{edge.EventPhoneCode, edge.EventPhoneLetIn} {
			if got := b.ask("GET", "/devices/events?event_type="+kind); got.StatusCode != 200 || !strings.Contains(got.body, its) || strings.Contains(got.body, code) {
				t.Errorf("%s: %d %s", kind, got.StatusCode, got.body)
			}
		}
		stream := b.readDoor(t, phone, "")
		synctest.Wait()
		if err := b.agent.Edges.Delete(t.Context(), its, "test"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if !stream.over() {
			t.Error("the phone of a display that is gone reads on")
		}
		if got := b.net.do(t, "GET", at+"/stream", phone); got.StatusCode != 401 {
			t.Errorf("its key is good: %d", got.StatusCode)
		}
	})
}

// TestLaterAtTheDoor: who books for later with the key of a door has the limits of a
// walk-up, today; who has a key of his own has those of bookings.
func TestLaterAtTheDoor(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		at := "/display/" + aurora
		display, _ := b.paired(aurora, b.claim(aurora))
		_, code, _ := strings.Cut(scanned(t, b.net.do(t, "POST", at+"/do/phone", display).body), "#code=")
		phone, _ := b.paired(aurora, code)
		now := b.agent.Now().Truncate(time.Hour)
		deed := func(ahead time.Duration, minutes int) string {
			return fmt.Sprintf(`{"start":%q,"minutes":%d}`, now.Add(ahead).Format(time.RFC3339), minutes)
		}
		for _, key := range []string{display, phone} {
			for what, body := range map[string]string{"tomorrow": deed(24*time.Hour, 30), "days ahead": deed(100*24*time.Hour, 30),
				"too long": deed(time.Hour, 1440), "too long by its end": `{"until":"` + now.Add(20*time.Hour).Format(time.RFC3339) + `"}`} {
				if got := b.net.do(t, "POST", at+"/do/book", key, body); got.StatusCode != 422 {
					t.Errorf("%s: %d %s", what, got.StatusCode, got.body)
				}
			}
		}
		if got := b.net.do(t, "POST", at+"/do/book", phone, deed(time.Hour, 30)); got.StatusCode != 200 {
			t.Errorf("later today: %d %s", got.StatusCode, got.body)
		}
		if got := b.ask("POST", at+"/do/book", deed(24*time.Hour, 300)); got.StatusCode != 200 {
			t.Errorf("an admin, tomorrow: %d %s", got.StatusCode, got.body)
		}
	})
}

// TestLanguagesOfDoors: a configuration may name every language that pages speak,
// and no other.
func TestLanguagesOfDoors(t *testing.T) {
	if !slices.Equal(config.DisplayLanguages, web.Languages) {
		t.Errorf("a configuration may say %q, pages speak %q", config.DisplayLanguages, web.Languages)
	}
}

// displayDevice is a page at a door.
var displayDevice = edge.Device{Kind: edge.Display, Name: "page"}

// renderings is how often a feed has rendered: each rendering has the next number.
func renderings[V any](t testing.TB, feed *web.Feed[V]) int {
	t.Helper()
	frame, err := feed.Look("")
	if err != nil {
		t.Fatal(err)
	}
	_, number, _ := strings.Cut(frame.ID, ".")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDoorStream: whoever shows a room gets what changes, one rendering for all of
// them; who comes back gets only what is new; and who is removed gets nothing more.
func TestDoorStream(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		key, _ := b.paired(aurora, b.claim(aurora))
		feed, err := b.server.doors.feed(aurora)
		if err != nil {
			t.Fatal(err)
		}
		const readers = 20
		var streams []*doorReader
		for range readers {
			streams = append(streams, b.readDoor(t, key, ""))
		}
		synctest.Wait()
		before := renderings(t, feed)
		made, _, err := b.agent.Bookings.Create(t.Context(), booking.Booking{SpaceID: aurora, Source: booking.WalkUp}, schedule.Caller{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for i, s := range streams {
			if got := s.text(); strings.Count(got, `"state":"free"`) != 1 || strings.Count(got, `"state":"busy"`) == 0 {
				t.Fatalf("reader %d got %s", i, got)
			}
		}
		if n := renderings(t, feed) - before; n == 0 || n > 5 { // the devices of the room follow it
			t.Errorf("%d renderings of one change for %d readers", n, readers)
		}
		last := regexp.MustCompile(`id: (\S+)`).FindAllStringSubmatch(streams[0].text(), -1)
		again := b.readDoor(t, key, last[len(last)-1][1])
		time.Sleep(20 * time.Second)
		if got := again.text(); strings.Contains(got, "<h1>") && !strings.Contains(got, "event: top") || !strings.Contains(got, ": alive") {
			t.Errorf("who comes back got %s", got)
		}
		if _, err := b.agent.Bookings.End(t.Context(), made.ID, schedule.Caller{}); err != nil {
			t.Fatal(err)
		}
		for _, d := range b.agent.Edges.List() {
			if err := b.agent.Edges.Delete(t.Context(), d.ID, "test"); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		for i, s := range append(streams, again) {
			if !s.over() {
				t.Errorf("reader %d, who was removed, still reads", i)
			}
		}
	})
}

// doorReader is somebody who reads the stream of Aurora's page.
type doorReader struct {
	mu   sync.Mutex
	got  strings.Builder
	done bool
}

func (r *doorReader) text() string { r.mu.Lock(); defer r.mu.Unlock(); return r.got.String() }
func (r *doorReader) over() bool   { r.mu.Lock(); defer r.mu.Unlock(); return r.done }

func (b *building) readDoor(t *testing.T, key, last string) *doorReader {
	t.Helper()
	headers := []string{key, "Accept: text/event-stream"}
	if last != "" {
		headers = append(headers, "Last-Event-ID: "+last)
	}
	got, err := b.net.client.Do(newRequest(t, "GET", "/display/"+aurora+"/stream", headers...))
	if err != nil {
		t.Fatal(err)
	}
	body, r := got.Body, &doorReader{}
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := body.Read(buffer)
			r.mu.Lock()
			r.got.Write(buffer[:n])
			r.done = err != nil
			r.mu.Unlock()
			if err != nil {
				_ = body.Close()
				return
			}
		}
	}()
	return r
}

// TestDoorLink: the link that comes with a pairing code pairs the browser that opens it.
func TestDoorLink(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		got := b.ask("POST", "/meetingspace/"+aurora+"/claim-code")
		var a struct {
			Response struct {
				Code string `json:"claim_code"`
				Link string
			}
		}
		if err := json.Unmarshal([]byte(got.body), &a); err != nil || got.StatusCode != 201 {
			t.Fatalf("%d %s: %v", got.StatusCode, got.body, err)
		}
		at, err := url.Parse(a.Response.Link)
		if err != nil || at.Host == "" || at.Path != "/display/"+aurora || at.Fragment != "code="+a.Response.Code {
			t.Fatalf("the link is %q: %v", a.Response.Link, err)
		}
		if got := b.net.do(t, "POST", at.Path+"/pair", `{"code":"`+a.Response.Code+`"}`); got.StatusCode != 201 {
			t.Errorf("it pairs: %d %s", got.StatusCode, got.body)
		}
	})
}

// TestDoorTellsLeafFromBolt: a door that stands open under a thrown bolt is told as open, one
// that is unlocked and shut as shut, each with its proof, and soon after it moves.
func TestDoorTellsLeafFromBolt(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		key, _ := b.paired(aurora, b.claim(aurora))
		at := "/display/" + aurora
		stream := b.readDoor(t, key, "")
		wants := func(when, leaf, bolt string) {
			t.Helper()
			time.Sleep(4 * time.Second)
			things := regexp.MustCompile(`class="things">([^<]*)`).FindAllStringSubmatch(stream.text(), -1)
			if len(things) == 0 || !strings.HasPrefix(things[len(things)-1][1], leaf+" · "+bolt) {
				t.Errorf("%s: the page says %q", when, things)
			}
			if why := b.net.do(t, "GET", at+"/panel/why", key).body; !strings.Contains(why, leaf+": door contact, ") || !strings.Contains(why, bolt+": sense line, ") {
				t.Errorf("%s: why says %s", when, why)
			}
		}
		wants("at first", "Door shut", "Locked")
		if _, err := b.world.Control("Aurora", "lock", "force"); err != nil {
			t.Fatal(err)
		}
		wants("forced open", "Door open", "Locked")
		if _, err := b.world.Control("Aurora", "lock", "shut"); err != nil {
			t.Fatal(err)
		}
		b.ask("POST", "/devices/"+aurora+"/action", `{"device_type":"lock","action":"open"}`)
		wants("unlocked", "Door shut", "Unlocked")
	})
}
