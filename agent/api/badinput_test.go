package api

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/eventlog"
)

// badBodies are what no operation may take, with the status that it answers
// with and the field that it names, if it must.
var badBodies = []struct {
	name, body, header string
	status             int
	field              string
}{
	{"nothing", " ", "", 400, ""},
	{"broken JSON", `{"name":"x"`, "", 400, ""},
	{"JSON and more", `{} {}`, "", 400, ""},
	{"a list", `[{"name":"x"}]`, "", 0, ""},
	{"a text", `"name"`, "", 0, ""},
	{"null", `null`, "", 0, ""},
	{"no UTF-8", "{\"name\":\"\xff\xfe\"}", "", 0, ""},
	{"an unknown field", `{"no_such_field":1}`, "", 422, "no_such_field"},
	{"a field twice", `{"no_such_field":1,"no_such_field":2}`, "", 0, "no_such_field"},
	{"a prototype", `{"__proto__":{"admin":true}}`, "", 422, "__proto__"},
	{"deep nesting", `{"no_such_field":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}", "", 0, ""},
	{"deep nesting without an end", strings.Repeat(`{"a":`, 10_000), "", 0, ""},
	{"a form", `{"name":"x"}`, "Content-Type: application/x-www-form-urlencoded", 415, "Content-Type"},
	{"compressed", `{"name":"x"}`, "Content-Encoding: gzip", 415, "Content-Encoding"},
	{"10 MB", `{"name":"` + strings.Repeat("x", 10<<20) + `"}`, "", 413, ""},
}

// inhabited is a building with one of everything that a path can name.
func (b *building) inhabited(t *testing.T) *strings.Replacer {
	t.Helper()
	made := func(path, body, begin string) string {
		t.Helper()
		got := b.ask("POST", path, body)
		_, rest, found := strings.Cut(got.body, begin)
		id, _, _ := strings.Cut(rest, `"`)
		if got.StatusCode >= 300 || !found {
			t.Fatalf("%s: %d %s", path, got.StatusCode, got.body)
		}
		return id
	}
	hook := made("/api/v1/webhooks", `{"organization_id":"`+auroraOrg+`","url":"https://hooks.example.com/","events":["booking.displaced"]}`, `"id":"`)
	rule := made("/rules", `{"name":"r","trigger":{"event":"temperatureAlert"},"actions":[{"event":"x"}]}`, `"id":"`)
	return strings.NewReplacer("{meeting_space_id}", aurora, "{organization_id}", auroraOrg, "{device_id}", "aurora-lock",
		"{device_type}", "light", "{sub_device}", "temperature", "{booking_id}", b.example(true), "{webhook_id}", hook, "{rule_id}", rule)
}

// TestEveryOperationRefusesBadBodies sends them to everything that takes JSON.
func TestEveryOperationRefusesBadBodies(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		fill := b.inhabited(t)
		_, end, err := b.agent.Events.Latest(eventlog.Filter{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		for _, v2 := range []bool{false, true} {
			s := parseSpec(t, v2)
			for name, o := range s.operations() {
				if s.at(o, "requestBody", "content", "application/json") == nil {
					continue
				}
				method, path, _ := strings.Cut(name, " ")
				path = placeholder.ReplaceAllString(fill.Replace(path), "none")
				for _, bad := range badBodies {
					b.tryBad(t, name, method, path, bad.name, bad.header, bad.body, bad.status, bad.field)
					tried++
				}
			}
		}
		if tried < 800 {
			t.Errorf("only %d were tried", tried)
		}
		time.Sleep(time.Second)
		told, _, err := b.agent.Events.Find(eventlog.Filter{After: end})
		if err != nil || len(told) > 0 {
			t.Errorf("they made %d events, %v: %+v", len(told), err, told)
		}
		if log := b.log.String(); strings.Contains(log, "level=ERROR") {
			t.Errorf("the log says %s", log)
		}
	}, tenants)
}

func (b *building) tryBad(t *testing.T, name, method, path, what, header, body string, status int, field string) {
	t.Helper()
	r := newRequest(t, method, path, "X-API-Key: "+systemKey)
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Type", "application/json")
	if key, value, ok := strings.Cut(header, ": "); ok {
		r.Header.Set(key, value)
	}
	response, err := b.net.client.Do(r)
	if err != nil {
		if status != http.StatusRequestEntityTooLarge { // the connection may end before all of it is written
			t.Errorf("%s with %s: %v", name, what, err)
		}
		return
	}
	text, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	var p problemBody
	if err := json.Unmarshal(text, &p); err != nil || p.Code == "" || p.Detail == "" {
		t.Errorf("%s with %s: %d %s", name, what, response.StatusCode, text)
		return
	}
	got := response.StatusCode
	if got == http.StatusNotFound && strings.Contains(path, "none") {
		return // what the path names comes first
	}
	if status == 0 && (got < 400 || got >= 500) || status != 0 && got != status || field != "" && p.Field != field {
		t.Errorf("%s with %s: %d %s", name, what, got, text)
	}
}

// badIDs are what somebody may put where a path has an id.
var badIDs = []string{"..", "../..", "../../etc/passwd", "..\\..\\x", "%2e%2e", "a/b", "\x00", "a\x00b", "\xff\xfe", "\r\nX: y", "*", "'; --", "$(id)",
	strings.Repeat("a", 2000), "-1", "0", "null", "none?x=1", "none#x", " ", "%", "ａ", "\u202e"}

// TestEveryPathRefusesBadIDs puts them at every place of every path.
func TestEveryPathRefusesBadIDs(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		fill := b.inhabited(t)
		for _, r := range routes() {
			places := placeholder.FindAllString(r.path, -1)
			for _, place := range places {
				for _, id := range badIDs {
					path := strings.Replace(r.path, place, url.PathEscape(id), 1)
					path = placeholder.ReplaceAllString(fill.Replace(path), "none")
					got := b.ask(r.method, path, "{}")
					if s := got.StatusCode; s < 400 || s >= 500 || slices.Contains([]int{401, 403, 405}, s) {
						t.Errorf("%s with %q as %s: %d %s", r.name(), id, place, s, got.body)
					}
				}
			}
		}
		if log := b.log.String(); strings.Contains(log, "level=ERROR") {
			t.Errorf("the log says %s", log)
		}
	}, tenants)
}

// badValues are of every type, and at every edge.
var badValues = []string{`null`, `true`, `0`, `-1`, `1.5`, `1e400`, `99999999999999999999`, `""`, `" "`, `"\u0000"`, `"x"`, `[]`, `[[]]`, `[null]`, `{}`, `{"a":{}}`,
	`"` + strings.Repeat("x", 5000) + `"`, `"2000-13-45T99:99:99Z"`, `"9999-12-31T23:59:59.999999999Z"`, `"../../etc/passwd"`}

// badTypes are one of every type, for bodies that are right but for one field.
var badTypes = []string{`null`, `true`, `-1`, `"\u0000"`, `[null]`, `{"a":{}}`}

// TestEveryFieldRefusesWrongTypes puts each value into each field that a body
// may have, alone, and one of every type into the examples. What is of another type is refused, and
// nothing breaks.
func TestEveryFieldRefusesWrongTypes(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		fill, tried := b.inhabited(t), 0
		for _, v2 := range []bool{false, true} {
			s := parseSpec(t, v2)
			for name, o := range s.operations() {
				properties, _ := s.at(o, "requestBody", "content", "application/json", "schema", "properties").(map[string]any)
				method, path, _ := strings.Cut(name, " ")
				path = placeholder.ReplaceAllString(fill.Replace(path), "none")
				for field, p := range properties {
					for i, around := range s.around(o, name) {
						values := badTypes
						if i == 0 {
							values = badValues
						}
						for _, value := range values {
							around[field] = json.RawMessage(value)
							body, err := json.Marshal(around)
							if err != nil {
								t.Fatal(err)
							}
							got := b.ask(method, path, string(body))
							if s := got.StatusCode; s == 500 || value[0] == '{' && !takesObject[kindIn(p)] && s < 400 {
								t.Errorf("%s with %s: %d %s", name, body, s, got.body)
							}
							tried++
						}
					}
				}
			}
		}
		if tried < 6000 {
			t.Errorf("only %d were tried", tried)
		}
		if log := b.log.String(); strings.Contains(log, "request failed") {
			t.Errorf("the log says %s", log)
		}
	}, tenants)
}

// takesObject are the types of a schema whose fields may hold an object; one
// without a type says nothing.
var takesObject = map[string]bool{"": true, "object": true}

// kindIn is the type that a property names itself.
func kindIn(p any) string {
	m, _ := p.(map[string]any)
	kind, _ := m["type"].(string)
	return kind
}

// around are the bodies to put a field into: an empty one and the examples, but
// of what would look up names.
func (s spec) around(o any, name string) []map[string]json.RawMessage {
	all := []map[string]json.RawMessage{{}}
	if strings.Contains(name, "webhook") || strings.Contains(name, "calendar") || strings.Contains(name, "messages") {
		return all
	}
	for _, e := range s.examples(o) {
		body := map[string]json.RawMessage{}
		if len(e) == 1 && json.Unmarshal([]byte(e[0]), &body) == nil {
			all = append(all, body)
		}
	}
	return all
}
