package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestUnlockCodesOverHTTP(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		path := "/meetingspace/" + aurora + "/unlock-codes"
		set := b.ask("PUT", path, `{"name":"Cleaning","code":"483920","valid_until":"2000-01-02T00:00:00Z"}`)
		if set.StatusCode != 201 || strings.Contains(set.body, "483920") {
			t.Errorf("it was answered with %d %s", set.StatusCode, set.body)
		}
		golden(t, "unlock-code", set.body)
		if _, err := b.world.Control("aurora", "lock", "code", "483920"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		if got := b.ask("POST", "/devices/"+aurora+"/status", `{"device_type":"lock"}`); !strings.Contains(got.body, `"value":"open"`) {
			t.Errorf("the door: %s", got.body)
		}
		if got := b.ask("GET", "/devices/"+aurora+"/events?event_type=codeAccepted"); !strings.Contains(got.body, `"name":"Cleaning"`) {
			t.Errorf("events %s", got.body)
		}
		golden(t, "unlock-codes", b.ask("GET", path).body)

		made := b.ask("PUT", path, `{"name":"Visitors"}`)
		var answer struct {
			Response struct{ ID, Code string }
		}
		if err := json.Unmarshal([]byte(made.body), &answer); err != nil || len(answer.Response.Code) != 6 {
			t.Errorf("digits that were made: %s, %v", made.body, err)
		}
		if got := b.ask("GET", path); strings.Contains(got.body, answer.Response.Code) {
			t.Errorf("they are shown again: %s", got.body)
		}
		if got := b.ask("PUT", "/v1.0"+path, `{"id":"`+answer.Response.ID+`","name":"Guests"}`); got.StatusCode != 200 {
			t.Errorf("replaced: %d %s", got.StatusCode, got.body)
		}
		for _, want := range []int{204, 404} {
			if got := b.ask("DELETE", path+"/"+answer.Response.ID); got.StatusCode != want {
				t.Errorf("deleted: %d %s, want %d", got.StatusCode, got.body, want)
			}
		}
		for range 5 {
			if _, err := b.world.Control("aurora", "lock", "code", "111111"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
		}
		if got := b.ask("GET", path); !strings.Contains(got.body, `"locked_out_s":11`) {
			t.Errorf("after wrong codes: %s", got.body)
		}
		for range 2 { // the second time nothing is left to lift
			if got := b.ask("DELETE", path+"/lockout"); got.StatusCode != 204 {
				t.Errorf("lifting it: %d %s", got.StatusCode, got.body)
			}
		}
		if got := b.ask("GET", path); !strings.Contains(got.body, `"locked_out_s":0`) {
			t.Errorf("after it was lifted: %s", got.body)
		}
		if got := b.ask("GET", "/devices/"+aurora+"/events?event_type=codeLockoutLifted"); strings.Count(got.body, `"by":"system key"`) != 1 {
			t.Errorf("events %s", got.body)
		}
		if strings.Contains(b.log.String(), "483920") || strings.Contains(b.log.String(), answer.Response.Code) {
			t.Error("the log has digits")
		}
	})
}

func TestUnlockCodesThatAreRefusedOverHTTP(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		path := "/meetingspace/" + aurora + "/unlock-codes"
		for body, field := range map[string]string{
			`{}`:                          "name",
			`{"name":"a","code":123456}`:  "code",
			`{"name":"a","code":"12 34"}`: "code",
			`{"name":"a","code":"123"}`:   "code",
			`{"name":"a","code":"483920","code":"483921"}`:                 "code",
			`{"name":"a","digits":"483920"}`:                               "digits",
			`{"name":"a","code":"483920","valid_until":"soon"}`:            "valid_until",
			`{"name":"a","code":"483920","valid_from":"2026-01-01T00:00"}`: "valid_from",
		} {
			got := b.ask("PUT", path, body)
			if got.StatusCode != 422 || !strings.Contains(got.body, `"field":"`+field+`"`) || strings.Contains(got.body, "483920") {
				t.Errorf("%s: %d %s", body, got.StatusCode, got.body)
			}
		}
		for _, space := range []string{nowhere, borealis} {
			if got := b.ask("PUT", "/meetingspace/"+space+"/unlock-codes", `{"name":"a"}`); got.StatusCode != 404 {
				t.Errorf("in %s: %d %s", space, got.StatusCode, got.body)
			}
		}
		for _, method := range []string{"GET", "PUT"} {
			if got := b.net.do(t, method, path, "{}"); got.StatusCode != 401 {
				t.Errorf("%s without a key: %d", method, got.StatusCode)
			}
		}
	})
}
