package api

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	aTime   = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d`)
	theForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
)

// otherTimes are the places of a JSON value with times in another form than UTC with
// milliseconds.
func otherTimes(v any, where string) (found []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			found = append(found, otherTimes(below, where+"."+name)...)
		}
	case []any:
		for _, below := range v {
			found = append(found, otherTimes(below, where+"[]")...)
		}
	case string:
		if aTime.MatchString(v) && !theForm.MatchString(v) {
			found = append(found, where+" "+v)
		}
	}
	return found
}

// TestTimesHaveOneForm: every time that V1.0 and V2.0 tell is UTC with milliseconds, as
// the platform's are.
func TestTimesHaveOneForm(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		system, told := "X-API-Key: "+systemKey, 0
		look := func(name, body string) {
			t.Helper()
			var v any
			if json.Unmarshal([]byte(body), &v) != nil {
				return
			}
			told += strings.Count(body, "000Z")
			for _, where := range otherTimes(v, "") {
				t.Errorf("%s: %s", name, where)
			}
		}
		do := func(method, path string, body ...string) string {
			t.Helper()
			got := b.net.do(t, method, path, append([]string{system}, body...)...)
			if got.StatusCode >= 300 {
				t.Errorf("%s %s: %d %s", method, path, got.StatusCode, got.body)
				return `"id":"none"`
			}
			look(method+" "+path, got.body)
			return got.body
		}
		id := func(body string) string { return regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(body)[1] }
		at := func(h time.Duration) string { return time.Now().UTC().Add(h).Format(time.RFC3339) }

		filled := map[string]string{"{meeting_space_id}": aurora, "{organization_id}": auroraOrg, "{device_id}": "aurora-light", "{device_type}": "light"}
		do("POST", "/gateway/keys", `{"name":"k","expires_at":"`+at(time.Hour)+`"}`)
		filled["{key_id}"] = id(do("POST", "/api/v1/organizations/"+auroraOrg+"/api-keys", `{"name":"k","permissions":["devices:read"],"expires_at":"`+at(time.Hour)+`"}`))
		filled["{webhook_id}"] = id(do("POST", "/api/v1/webhooks", `{"organization_id":"`+auroraOrg+`","url":"https://hooks.test/in","events":["booking.created"]}`))
		do("POST", "/api/v1/webhooks/"+filled["{webhook_id}"]+"/rotate-secret", `{}`)
		filled["{rule_id}"] = id(do("POST", "/rules", `{"name":"r","meeting_space_id":"`+aurora+`","trigger":{"event":"commandCompleted"},"actions":[{"event":"seen"}]}`))
		do("POST", "/rules/"+filled["{rule_id}"]+"/test", `{}`)
		filled["{message_id}"] = id(do("POST", "/messages", `{"to":{"topic":"t"},"title":"t","body":"b"}`))
		filled["{booking_id}"] = id(do("POST", "/bookings", `{"meeting_space_id":"`+aurora+`","minutes":30,"source":"walk_up"}`))
		do("POST", "/meetingspace/"+aurora+"/state", `{"status":"reserved","from":"`+at(48*time.Hour)+`","until":"`+at(49*time.Hour)+`"}`)
		do("PUT", "/meetingspace/"+aurora+"/unlock-codes", `{"name":"c","valid_from":"`+at(0)+`","valid_until":"`+at(time.Hour)+`"}`)
		do("POST", "/meetingspace/"+aurora+"/calendar", `{"url":"https://calendar.test/a.ics"}`)
		do("POST", "/devices/"+aurora+"/action", `{"device_type":"light","action":"on"}`)
		b.edgeKey(aurora)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		for i, r := range routes() {
			if r.method != "GET" || strings.HasSuffix(r.path, "/send") || strings.HasSuffix(r.path, "/disable") {
				continue
			}
			path := r.path
			for name, value := range filled {
				path = strings.ReplaceAll(path, name, value)
			}
			if strings.HasSuffix(path, "/instruction") && !r.v2() {
				path += "?device_type=light"
			}
			look(r.name(), b.from(i, "GET", path, system).Body.String())
		}
		for _, body := range []string{`{"device_type":"all"}`} {
			do("POST", "/devices/"+aurora+"/status", body)
			do("POST", "/devices/"+aurora+"/control", `{"device_type":"light"}`)
		}
		if told < 100 {
			t.Errorf("only %d times were told", told)
		}
		if got := fmt.Sprint(otherTimes([]any{"2026-01-01T10:00:00Z", "2026-01-01T10:00:00.5Z", "2026-01-01T10:00:00.000+01:00", "2026-01-01T10:00:00.000Z", "2026"}, "")); strings.Count(got, "[]") != 3 {
			t.Errorf("the test finds %s", got)
		}
	}, tenants)
}

func TestUniformTimes(t *testing.T) {
	for answer, want := range map[string]string{
		`{"created_at":"2026-01-01T10:00:00Z","x":1}`:                                  `{"created_at":"2026-01-01T10:00:00.000Z","x":1}`,
		`{"a":{"at":"2026-01-01T10:00:00.05+01:00"},"until":"2026-01-01T10:00:00.5Z"}`: `{"a":{"at":"2026-01-01T09:00:00.050Z"},"until":"2026-01-01T10:00:00.500Z"}`,
		`{"observed_at":"2026-01-01T10:00:00.123456789Z"}`:                             `{"observed_at":"2026-01-01T10:00:00.123Z"}`,
		`{"at":"2026-01-01T10:00:00.000Z"}`:                                            `{"at":"2026-01-01T10:00:00.000Z"}`,
		// What people write stays as it is, also where it looks like a member.
		`{"title":"2026-01-01T10:00:00Z"}`:                            `{"title":"2026-01-01T10:00:00Z"}`,
		`{"title":"x\",\"at\":\"2026-01-01T10:00:00Z"}`:               `{"title":"x\",\"at\":\"2026-01-01T10:00:00Z"}`,
		`{"at":"22:30","time":"soon","until":"2026-13-01T10:00:00Z"}`: `{"at":"22:30","time":"soon","until":"2026-13-01T10:00:00Z"}`,
		`{"at":"`:                                `{"at":"`,
		`{"at":"2026-01-01T10:00:00Z`:            `{"at":"2026-01-01T10:00:00Z`,
		`T2026-01-01T10:00:00Z`:                  `T2026-01-01T10:00:00Z`,
		`{"name":"TTT","until":"2026-01-01TTT"}`: `{"name":"TTT","until":"2026-01-01TTT"}`,
		`{"items":[{"at":"2026-01-01T10:00:00Z"},{"at":"2026-01-01T10:00:00.000Z"},{"at":"2026-01-01T10:00:00.1Z"}]}`: `{"items":[{"at":"2026-01-01T10:00:00.000Z"},{"at":"2026-01-01T10:00:00.000Z"},{"at":"2026-01-01T10:00:00.100Z"}]}`,
	} {
		if got := string(uniformTimes([]byte(answer))); got != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
}
