package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestBothVersionsTellTheSame moves a building at random, orders and books by
// either version, and compares what they say of it.
func TestBothVersionsTellTheSame(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		random := rand.New(rand.NewPCG(7, 11))
		for step := range 60 {
			b.disturb(random, step)
			time.Sleep(time.Duration(random.IntN(90)) * time.Second)
			for _, space := range []string{aurora, borealis} {
				b.sameDevices(t, space)
				b.sameState(t, space)
				b.sameEvents(t, space)
			}
			b.sameSpaces(t)
			b.sameBookings(t)
			if t.Failed() {
				t.Fatalf("in step %d", step)
			}
		}
	})
}

// disturb changes something of the building. What is refused is so by both
// versions.
func (b *building) disturb(random *rand.Rand, step int) {
	b.t.Helper()
	start := time.Now().UTC().Truncate(24 * time.Hour).Add(time.Duration(24+random.IntN(12)) * time.Hour).Format(time.RFC3339)
	booking := fmt.Sprintf(`{"id":"b-%d","meeting_space_id":"%s","start_time":"%s","minutes":60,"private":%t}`, step%20, aurora, start, step%2 == 0)
	root, spaces := "", "/meetingspace/"
	if random.IntN(2) == 0 {
		root, spaces = "/v2.0", "/v2.0/meeting-spaces/"
	}
	for _, change := range [][]func(){
		{func() { b.move("aurora", "temperature", strconv.Itoa(10+random.IntN(25))) }},
		{func() { b.move("aurora", "occupancy", []string{"occupied", "vacant"}[random.IntN(2)]) }},
		{func() { b.move("aurora", "o3-sensor", []string{"unplug", "plug"}[random.IntN(2)]) }},
		{func() {
			b.ask("POST", "/devices/"+aurora+"/action", `{"device_type":"light","action":"intensity","value":`+strconv.Itoa(random.IntN(101))+`}`)
		}},
		{func() {
			b.ask("POST", "/v2.0/meeting-spaces/"+borealis+"/devices/fan/action", `{"action":"`+[]string{"on", "off"}[random.IntN(2)]+`"}`)
		}},
		{func() {
			b.ask("POST", root+"/devices/aurora-lock/"+[]string{"enable", "disable"}[random.IntN(2)], "{}")
		}},
		{func() { b.ask("POST", root+"/bookings", booking) }, func() { b.ask("DELETE", root+"/bookings/b-"+strconv.Itoa(random.IntN(20))) }},
		{func() {
			b.ask("POST", spaces+borealis+"/state", `{"status":"`+[]string{"disabled", "available"}[random.IntN(2)]+`"}`)
		}},
	} {
		if random.IntN(3) == 0 {
			change[random.IntN(len(change))]()
		}
	}
}

// object reads a JSON answer.
func (b *building) object(t *testing.T, method, path string, body ...string) (v map[string]any) {
	t.Helper()
	got := b.ask(method, path, body...)
	if err := json.Unmarshal([]byte(got.body), &v); err != nil || got.StatusCode != 200 {
		t.Fatalf("%s %s: %d %s", method, path, got.StatusCode, got.body)
	}
	return v
}

// plain is a typed value as V1.0 writes it.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return map[bool]string{true: "on", false: "off"}[v]
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return v.(string)
}

// record is what V1.0 says of a reading of V2.0.
func record(name any, reading map[string]any) map[string]any {
	value := plain(reading["last_value"])
	if name == "temperature" && value != "" { // V1.0 writes one decimal, or none
		value = strings.TrimSuffix(value, ".0")
	}
	return map[string]any{"device": name, "value": value, "status": reading["status"]}
}

func (b *building) sameDevices(t *testing.T, space string) {
	t.Helper()
	var uniform []any
	for _, item := range b.object(t, "GET", "/v2.0/devices?meeting_space_id="+space)["items"].([]any) {
		d := item.(map[string]any)
		parts := []any{d}
		uniform = append(uniform, record(d["device_type"], d))
		for _, s := range d["sub_devices"].([]any) {
			sub := s.(map[string]any)
			uniform, parts = append(uniform, record(sub["sub_device"], sub)), append(parts, sub)
		}
		for _, p := range parts {
			r := p.(map[string]any)
			if r["stale"] != (r["status"] == "offline") || r["stale"] == true && (r["value"] != nil || r["intensity"] != nil) || r["stale"] == false && !reflect.DeepEqual(r["value"], r["last_value"]) {
				t.Errorf("stale as fresh: %v", r)
			}
		}
	}
	literal := b.object(t, "POST", "/devices/"+space+"/status", `{"device_type":"all"}`)["response"].(map[string]any)["devices"].([]any)
	for _, r := range literal {
		if r := r.(map[string]any); r["device"] == "temperature" {
			r["value"] = strings.TrimSuffix(r["value"].(string), ".0")
		}
	}
	byName := func(x, y any) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) }
	slices.SortFunc(literal, byName)
	slices.SortFunc(uniform, byName)
	if !reflect.DeepEqual(literal, uniform) {
		t.Errorf("devices of %s:\nV1.0 %v\nV2.0 %v", space, literal, uniform)
	}
}

func (b *building) sameState(t *testing.T, space string) {
	t.Helper()
	literal := b.object(t, "GET", "/meetingspace/"+space+"/state")["response"].(map[string]any)
	uniform := b.object(t, "GET", "/v2.0/meeting-spaces/"+space+"/state")
	if hold, ok := uniform["hold"].(map[string]any); ok {
		hold["from"], hold["until"] = hold["start_time"], hold["end_time"]
		delete(hold, "start_time")
		delete(hold, "end_time")
	}
	if !reflect.DeepEqual(literal, uniform) {
		t.Errorf("state of %s:\nV1.0 %v\nV2.0 %v", space, literal, uniform)
	}
}

func (b *building) sameEvents(t *testing.T, space string) {
	t.Helper()
	literal := b.object(t, "GET", "/devices/"+space+"/events?limit=200")
	uniform := b.object(t, "GET", "/v2.0/meeting-spaces/"+space+"/events?limit=200")
	if literal["next_cursor"] != uniform["next_cursor"] || len(literal["events"].([]any)) != len(uniform["items"].([]any)) {
		t.Fatalf("events of %s go on at %v and %v", space, literal["next_cursor"], uniform["next_cursor"])
	}
	for i, item := range uniform["items"].([]any) {
		e, was := item.(map[string]any), literal["events"].([]any)[i].(map[string]any)
		details := e["details"].(map[string]any)
		for _, name := range []string{"value", "previous"} {
			if v, there := details[name]; there {
				details[name] = plain(v)
			}
		}
		for _, above := range []string{"meeting_space_id", "device", "device_id"} {
			if details[above] != nil {
				t.Errorf("%s is in the details of %v", above, e)
			}
		}
		delete(details, "unit")
		details["meeting_space_id"] = e["meeting_space_id"]
		if details["device"] = "meeting-space"; e["device_type"] != nil {
			details["device"], details["device_id"] = e["device_type"], e["device_id"]
		}
		if e["sub_device"] != nil {
			details["device"] = e["sub_device"]
		}
		if is := map[string]any{"eventType": e["event_type"], "timestamp": e["occurred_at"], "details": details}; !reflect.DeepEqual(is, was) {
			t.Errorf("an event:\nV1.0 %v\nV2.0 %v", was, is)
		}
	}
}

func (b *building) sameSpaces(t *testing.T) {
	t.Helper()
	var literal []map[string]any
	if err := json.Unmarshal([]byte(b.ask("GET", "/meetingspace/get_meeting_space").body), &literal); err != nil {
		t.Fatal(err)
	}
	renamed := map[string]string{"external_cal_id": "external_calendar_id", "24_hr_available": "around_the_clock",
		"slot_size": "slot_minutes", "logo": "logo_url", "is_screen_saver": "screen_saver", "additional_address_info": "additional_info"}
	for i, item := range b.object(t, "GET", "/v2.0/meeting-spaces")["items"].([]any) {
		uniform := item.(map[string]any)
		for name, v := range uniform["address"].(map[string]any) {
			uniform[name] = v
		}
		delete(uniform, "address")
		for name, v := range literal[i] {
			if other := renamed[name]; other != "" {
				name = other
			}
			if is := uniform[name]; is != v && !(is == nil && v == "") {
				t.Errorf("%s of %s is %v and %v", name, literal[i]["name"], v, is)
			}
			delete(uniform, name)
		}
		if len(uniform) > 0 {
			t.Errorf("V2.0 knows more: %v", uniform)
		}
	}
}

func (b *building) sameBookings(t *testing.T) {
	t.Helper()
	literal := b.object(t, "GET", "/bookings?from=2000-01-01T00:00:00Z&limit=200")["bookings"]
	uniform := b.object(t, "GET", "/v2.0/bookings?since=2000-01-01T00:00:00Z&limit=200")["items"]
	for _, one := range uniform.([]any) { // no address is "" in V1.0, and absent in V2.0
		organizer := one.(map[string]any)["organizer"].(map[string]any)
		if email, there := organizer["email"]; !there {
			organizer["email"] = ""
		} else if email == "" {
			t.Errorf("V2.0 says that nothing is an e-mail address: %v", one)
		}
	}
	if !reflect.DeepEqual(literal, uniform) {
		t.Errorf("bookings:\nV1.0 %v\nV2.0 %v", literal, uniform)
	}
}
