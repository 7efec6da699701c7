package api

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
)

// TestExamplesWork sends every example of the file, and holds every JSON
// answer to its schema.
func TestExamplesWork(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, v2 := range []bool{false, true} {
			b.tryExamples(t, parseSpec(t, v2))
		}
	}, tenants)
}

func (b *building) tryExamples(t *testing.T, s spec) {
	tried := 0
	for name, o := range s.operations() {
		method, path, _ := strings.Cut(name, " ")
		for _, e := range s.examples(o) {
			id := s.at(o, "operationId")
			path := strings.ReplaceAll(path, "{device_id}", b.deviceFor(id))
			path = strings.NewReplacer("{meeting_space_id}", aurora, "{sub_device}", "temperature", "{device_type}", "light", "{panel}", "why", "{action}", "report", "{file}", doorScript, "{section}", "overview").Replace(path)
			if id != "removeOrganization" { // it has meeting spaces
				path = strings.ReplaceAll(path, "{organization_id}", auroraOrg)
			}
			if strings.Contains(path, "{booking_id}") {
				path = strings.ReplaceAll(path, "{booking_id}", b.example(id == "updateBooking"))
			}
			switch {
			case id == "instruction" && !s.v2:
				path += "?device_type=lock"
			case id == "edgeSensors" && !s.v2:
				path += "?meeting_space_id=" + aurora
			case id == "consolePanel":
				path = "/console/panel/book?id=" + aurora
			case id == "consoleAccept":
				path = "/console/accept/identify"
			case id == "consoleSetup":
				path = "/console/setup/space"
			case id == "consoleMake":
				path = "/console/made/backup"
			case id == "consoleReport", id == "endConsoleSession", id == "consoleMade", id == "consoleUnmake", id == "consoleUpdate":
				continue // a walk takes minutes, a key has no session, and nothing was made or brought
			case id == "consoleSession":
				code := b.agent.Access.Console.Lasting()
				e[0] = strings.ReplaceAll(e[0], "7K3M-QX9D", code)
			case id == "displayPair":
				e[0] = strings.ReplaceAll(e[0], "7K3M-QX9D", b.claim(aurora))
			case id == "registerEdge":
				e[0] = strings.ReplaceAll(e[0], "7K3M-QX9D", b.claim(aurora))
			case id == "createBooking" && s.v2:
				e[0] = strings.ReplaceAll(e[0], "erp-4711", "erp-4713") // the other has been
			case id == "createOrganization" && s.v2:
				e[0] = strings.ReplaceAll(e[0], "Third floor", "Sixth floor")
			case id == "createUser" && s.v2:
				e[0] = strings.ReplaceAll(e[0], "uma@", "una@")
			}
			path = b.named(name, path)
			if strings.HasSuffix(path, "shot") || strings.HasSuffix(path, "otp/verify") || strings.HasSuffix(path, ".ics") {
				continue // pictures, and codes and tokens that would have to exist
			}
			got := b.ask(method, path, e...)
			b.clear()
			if got.StatusCode >= 300 {
				t.Errorf("%s %v: %d %s", name, e, got.StatusCode, got.body)
				continue
			}
			s.checkAnswer(t, name, o, got)
			tried++
		}
	}
	if tried < 90 {
		t.Errorf("only %d examples", tried)
	}
}

// examples are the bodies of an operation's examples; one empty if it takes
// none.
func (s spec) examples(o any) [][]string {
	named, _ := s.at(o, "requestBody", "content", "application/json", "examples").(map[string]any)
	if named == nil {
		return [][]string{nil}
	}
	var out [][]string
	for _, e := range named {
		body, _ := json.Marshal(s.at(e, "value")) // it came from YAML
		out = append(out, []string{soon.Replace(string(body))})
	}
	return out
}

// soon moves the dates of the examples to where virtual time begins.
var soon = strings.NewReplacer("2026-11-23T", "2000-01-02T", "2026-11-24T", "2000-01-03T")

// example books a space: Borealis for somebody who stands in it, or Aurora for
// tomorrow.
func (b *building) example(ahead bool) string {
	b.t.Helper()
	asked := booking.Booking{SpaceID: borealis, Source: booking.WalkUp}
	if ahead {
		start := time.Now().UTC().Truncate(24 * time.Hour).Add(32 * time.Hour)
		asked = booking.Booking{SpaceID: aurora, Start: start, End: start.Add(time.Hour)}
	}
	booked, _, err := b.agent.Bookings.Create(b.t.Context(), asked, schedule.Caller{})
	if err != nil {
		b.t.Fatal(err)
	}
	return booked.ID
}

// deviceFor is a device on which an operation's example works.
func (b *building) deviceFor(operation any) string {
	b.t.Helper()
	switch operation {
	case "removeDevice", "createSensor", "removeSensor":
	default:
		return "aurora-lock"
	}
	document := `{"type":"o3-sensor","driver":"o3-room","options":{"occupancy":{"dialect":"zigbee2mqtt","topic":"z/motion"}}}`
	if _, err := b.agent.Site.AddDevice(b.t.Context(), borealis, "borealis-o3", []byte(document), "test"); err != nil {
		b.t.Fatal(err)
	}
	if operation == "removeSensor" {
		options := `{"dialect":"zigbee2mqtt","topic":"z/heat"}`
		if _, err := b.agent.Site.SetSensor(b.t.Context(), "borealis-o3", "temperature", []byte(options), "test"); err != nil {
			b.t.Fatal(err)
		}
	}
	return "borealis-o3"
}

// named makes what the path of an operation names, and fills in its id.
func (b *building) named(operation, path string) string {
	b.t.Helper()
	const keys, hooks = "/api/v1/organizations/" + auroraOrg + "/api-keys", "/api/v1/webhooks"
	make := func(name, method, at, body, id string) {
		if !strings.Contains(path, name) {
			return
		}
		got := b.ask(method, at, body)
		var v any
		_ = json.Unmarshal([]byte(got.body), &v) // what is not JSON has no id
		made, ok := reach(v, id).(string)
		if !ok {
			b.t.Fatalf("%s: %s %s: %d %s", operation, method, at, got.StatusCode, got.body)
		}
		path = strings.ReplaceAll(path, name, made)
	}
	if strings.Contains(path, "/organizations/") {
		make("{key_id}", "POST", keys, `{"name":"app","permissions":["bookings:read"]}`, "data.id")
	}
	make("{key_id}", "POST", "/gateway/keys", `{"name":"app"}`, "key.id")
	make("{webhook_id}", "POST", hooks, `{"organization_id":"`+auroraOrg+`","url":"https://hooks.example/a","events":["booking.created"],"secret":"a-secret-that-both-know"}`, "data.id")
	if hook, _, _ := strings.Cut(path, "/deliveries/"); hook != path {
		at := hooks + hook[strings.LastIndex(hook, "/"):]
		b.example(true)
		time.Sleep(time.Second) // until it is spread
		make("{delivery_id}", "GET", at+"/deliveries", "", "data.0.id")
	}
	make("{rule_id}", "POST", "/rules", `{"name":"evening","trigger":{"time":"22:30"},"actions":[{"device_type":"light","action":"off"}]}`, "id")
	email := rand.Text() + "@example.com" // which nobody else has
	make("{user_id}", "POST", "/gateway/users", `{"email":"`+email+`","role":"member"}`, "data.id")
	make("{organization_id}", "POST", "/api/v1/organizations", `{"name":"`+email+`"}`, "data.id")
	make("{message_id}", "POST", "/messages", `{"to":{"user_id":"mel"},"title":"a","body":"b"}`, "id")
	if strings.Contains(path, "{edge_id}") {
		path = strings.ReplaceAll(path, "{edge_id}", b.register(aurora, ""))
	}
	make("{code_id}", "PUT", "/meetingspace/"+aurora+"/unlock-codes", `{"name":"Cleaning","code":"483920"}`, "response.id")
	return path
}

// clear takes every booking, every state and every change of a device back.
func (b *building) clear() {
	b.t.Helper()
	all, err := b.agent.Bookings.List("", time.Time{}, time.Time{})
	for _, booked := range all {
		if booked.Live() {
			_, e := b.agent.Bookings.Cancel(b.t.Context(), booked.ID, schedule.Caller{})
			err = errors.Join(err, e)
		}
	}
	for _, space := range []string{aurora, borealis} {
		_, e := b.agent.Bookings.Hold(b.t.Context(), space, booking.Hold{Status: booking.Available})
		err = errors.Join(err, e)
	}
	for _, d := range b.devices() {
		e := b.agent.Site.RemoveDevice(b.t.Context(), d.ID, "test")
		if refusal := (*problem.Error)(nil); !errors.As(e, &refusal) || refusal.Code != problem.NotNow { // it is as the file has it
			err = errors.Join(err, e)
		}
	}
	for _, d := range b.devices() {
		_, e := b.agent.Site.SetDevice(b.t.Context(), d.ID, device.Settings{}, true, "test")
		err = errors.Join(err, e)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	time.Sleep(5 * time.Second) // until what was disabled is there again
}
