package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/booking"
	"roomgate/agent/device"
	"roomgate/agent/schedule"
)

// spec is the description of a version as data.
type spec struct {
	root map[string]any
	v2   bool
}

func parseSpec(t *testing.T, v2 bool) spec {
	t.Helper()
	s := spec{v2: v2}
	if err := yaml.Unmarshal(documentOf(v2).yaml, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// eachVersion runs f with both descriptions.
func eachVersion(t *testing.T, f func(t *testing.T, s spec)) {
	t.Run("V1.0", func(t *testing.T) { f(t, parseSpec(t, false)) })
	t.Run("V2.0", func(t *testing.T) { f(t, parseSpec(t, true)) })
}

// routes are those that it has to describe.
func (s spec) routes() []route {
	return slices.DeleteFunc(routes(), func(r route) bool { return r.v2() != s.v2 })
}

// at walks down by keys, and follows references; nil if there is nothing.
func (s spec) at(v any, keys ...string) any {
	for {
		m, _ := v.(map[string]any)
		if r, ok := m["$ref"].(string); ok {
			v = s.at(s.root, strings.Split(strings.TrimPrefix(r, "#/"), "/")...)
			if v == nil {
				panic("dangling reference " + r)
			}
			continue
		}
		if len(keys) == 0 {
			return v
		}
		v, keys = m[keys[0]], keys[1:]
	}
}

// operations yields every operation of the file as "METHOD path".
func (s spec) operations() map[string]any {
	out := map[string]any{}
	for path, item := range s.at(s.root, "paths").(map[string]any) {
		for method, operation := range item.(map[string]any) {
			out[strings.ToUpper(method)+" "+path] = operation
		}
	}
	return out
}

func TestDescriptionAndRoutesAreTheSame(t *testing.T) { eachVersion(t, checkRoutes) }

func checkRoutes(t *testing.T, s spec) {
	if s.root["openapi"] != "3.1.0" {
		t.Errorf("it is openapi %v", s.root["openapi"])
	}
	operations, ids := s.operations(), map[string]bool{}
	for _, r := range s.routes() {
		name := r.method + " " + r.path
		o := operations[name]
		if o == nil {
			t.Errorf("%s is not described", name)
			continue
		}
		delete(operations, name)
		if s.at(o, "summary") != r.summary {
			t.Errorf("%s is %q there and %q here", name, s.at(o, "summary"), r.summary)
		}
		if open, _ := s.at(o, "security").([]any); (open != nil) != (r.permission == permitAll) {
			t.Errorf("%s: who may is told otherwise", name)
		}
		s.checkOperation(t, name, o, r)
		id, _ := s.at(o, "operationId").(string)
		if id == "" || ids[id] {
			t.Errorf("%s: operationId is %q", name, id)
		}
		ids[id] = true
	}
	for name := range operations {
		t.Errorf("%s is described, and there is no such route", name)
	}
}

// checkOperation asks for a success, for errors, and for each value in the
// path.
func (s spec) checkOperation(t *testing.T, name string, o any, r route) {
	t.Helper()
	good := false
	for status := range s.at(o, "responses").(map[string]any) {
		good = good || status[0] == '2'
	}
	if !good || s.at(o, "responses", "default", "content", "application/problem+json") == nil {
		t.Errorf("%s: responses lack success or error", name)
	}
	var inPath []string
	parameters, _ := s.at(o, "parameters").([]any)
	for _, p := range parameters {
		if s.at(p, "in") == "path" {
			inPath = append(inPath, "{"+s.at(p, "name").(string)+"}")
		}
	}
	values := slices.DeleteFunc(r.segments(), func(v string) bool { return v[0] != '{' })
	if !slices.Equal(inPath, values) {
		t.Errorf("%s: path parameters are %v, want %v", name, inPath, values)
	}
}

// TestPageShowsEveryOperation reads the browsable page.
func TestPageShowsEveryOperation(t *testing.T) { eachVersion(t, checkPage) }

func checkPage(t *testing.T, s spec) {
	p := documentOf(s.v2).page("1 <2>")
	for _, r := range s.routes() {
		if !strings.Contains(p, "<b>"+r.method+"</b> <code>"+r.path+"</code>") {
			t.Errorf("%s %s is not shown", r.method, r.path)
		}
	}
	for name := range s.at(s.root, "components", "schemas").(map[string]any) {
		if !strings.Contains(p, `<section id="`+name+`">`) {
			t.Errorf("schema %s is not shown", name)
		}
	}
	if strings.Contains(p, "<pre></pre>") || strings.Contains(p, "<2>") || strings.Contains(p, `="http`) || strings.Contains(p, "url(") {
		t.Error("the page has an empty part, raw text, or a link outside")
	}
}

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
			path = strings.NewReplacer("{meeting_space_id}", aurora, "{sub_device}", "temperature", "{organization_id}", auroraOrg, "{device_type}", "light", "{user_id}", "bob").Replace(path)
			if strings.Contains(path, "{booking_id}") {
				path = strings.ReplaceAll(path, "{booking_id}", b.example(id == "updateBooking"))
			}
			switch {
			case id == "instruction" && !s.v2:
				path += "?device_type=lock"
			case id == "edgeSensors" && !s.v2:
				path += "?meeting_space_id=" + aurora
			case id == "registerEdge":
				e[0] = strings.ReplaceAll(e[0], "7K3M-QX9D", b.claim(aurora))
			case id == "createBooking" && s.v2:
				e[0] = strings.ReplaceAll(e[0], "erp-4711", "erp-4713") // the other has been
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
	added, e := b.agent.Site.Added(b.t.Context())
	err = errors.Join(err, e)
	for id := range added {
		err = errors.Join(err, b.agent.Site.RemoveDevice(b.t.Context(), id, "test"))
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

func (s spec) checkAnswer(t *testing.T, name string, o any, got answer) {
	t.Helper()
	if got.StatusCode == 204 && s.at(o, "responses", "204") != nil {
		return
	}
	media, _, _ := mime.ParseMediaType(got.Header.Get("Content-Type"))
	described := s.at(o, "responses", fmt.Sprint(got.StatusCode), "content", media)
	if described == nil {
		t.Errorf("%s: answer %d %s is not described", name, got.StatusCode, media)
	}
	schema := s.at(described, "schema")
	if schema == nil {
		return
	}
	var v any
	if err := json.Unmarshal([]byte(got.body), &v); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if err := s.valid(schema, v, "body"); err != nil {
		t.Errorf("%s: %v in %s", name, err, got.body)
	}
	if s.v2 {
		checkTimes(t, name, v)
	}
}

// checkTimes wants every time in an answer with milliseconds.
func checkTimes(t *testing.T, name string, v any) {
	t.Helper()
	switch v := v.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil && len(v) != len(momentLayout) {
			t.Errorf("%s: the time %s is not one in UTC with milliseconds", name, v)
		}
	case []any:
		for _, inner := range v {
			checkTimes(t, name, inner)
		}
	case map[string]any:
		for _, inner := range v {
			checkTimes(t, name, inner)
		}
	}
}
