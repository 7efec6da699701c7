package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
)

// order gives an order and returns the receipt.
func (b *building) order(body string, headers ...string) (answer, device.Receipt) {
	b.t.Helper()
	got := b.ask("POST", "/devices/"+aurora+"/action", append(headers, body)...)
	var r device.Receipt
	if err := json.Unmarshal([]byte(got.body), &r); err != nil {
		b.t.Fatalf("%s: %d %s", body, got.StatusCode, got.body)
	}
	return got, r
}

func (b *building) value(space, deviceType, sub string) string {
	b.t.Helper()
	r, err := b.agent.Site.Status(space, deviceType, sub)
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Value
}

func TestActionIsProved(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		got, r := b.order(`{"device_type":"light","action":"intensity","value":40}`)
		if r.Evidence == nil {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		goldentest.Values(t, "the command", goldentest.Pairs{"StatusCode": {got.StatusCode, 200}, "State": {r.State, device.Done},
			"Evidence.Value": {r.Evidence.Value, "on"}, "no CommandID": {r.CommandID == "", false}})
		if v := b.value(aurora, "light", ""); v != "on" {
			t.Errorf("the light is %s", v)
		}
		got, r = b.order(`{"device_type":"o3-sensor","sub_device":"ring-light","action":"color","value":"#00ff00"}`)
		if got.StatusCode != 200 || r.State != device.Done || b.value(aurora, "o3-sensor", "ring-light") != "on" {
			t.Errorf("ring: %d %s", got.StatusCode, got.body)
		}
	})
}

func TestActionDoesNotWaitIfTold(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.move("aurora", "light", "delay", "3s")
		for _, wait := range []string{`false`, `"0s"`, `"1s"`, `"1"`, `"0"`} {
			start := time.Now()
			got, r := b.order(`{"device_type":"light","action":"on","wait":` + wait + `}`)
			if got.StatusCode != 202 || r.State != device.Accepted || r.CommandID == "" {
				t.Errorf("wait %s: %d %s", wait, got.StatusCode, got.body)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("wait %s took %v", wait, took)
			}
		}
		b.move("aurora", "light", "nodelay")
		time.Sleep(time.Minute)
		if got, r := b.order(`{"device_type":"light","action":"on","wait":false}`, "Idempotency-Key: k"); got.StatusCode != 202 || r.State != device.Accepted {
			t.Errorf("a device that is quick: %d %s", got.StatusCode, got.body)
		}
		time.Sleep(time.Second)
		if got, r := b.order(`{"device_type":"light","action":"on","wait":false}`, "Idempotency-Key: k"); got.StatusCode != 200 || r.State != device.Done {
			t.Errorf("repeated: %d %s", got.StatusCode, got.body)
		}
		if v := b.value(aurora, "light", ""); v != "on" {
			t.Errorf("what was accepted was not done: the light is %s", v)
		}
	})
}

func TestActionRefusals(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		before := b.ask("POST", "/devices/"+aurora+"/status", `{"device_type":"all"}`).body
		for _, c := range []struct {
			name, space, body string
			status            int
			field             string
		}{
			{"unknown space", nowhere, `{"device_type":"lock","action":"open"}`, 404, "meeting_space_id"},
			{"device that is not there", aurora, `{"device_type":"camera","action":"on"}`, 404, "device_type"},
			{"unknown type", aurora, `{"device_type":"toaster","action":"on"}`, 422, "device_type"},
			{"all", aurora, `{"device_type":"all","action":"on"}`, 422, "device_type"},
			{"unknown sub-device", aurora, `{"device_type":"o3-sensor","sub_device":"nose","action":"on"}`, 404, "sub_device"},
			{"unknown action", aurora, `{"device_type":"lock","action":"explode"}`, 422, "action"},
			{"no action", aurora, `{"device_type":"lock"}`, 422, "action"},
			{"value out of range", aurora, `{"device_type":"light","action":"intensity","value":101}`, 422, "value"},
			{"value of the wrong type", aurora, `{"device_type":"light","action":"intensity","value":{"x":1}}`, 422, "value"},
			{"value missing", aurora, `{"device_type":"light","action":"intensity"}`, 422, "value"},
			{"value where none is taken", aurora, `{"device_type":"light","action":"on","value":3}`, 422, "value"},
			{"value with a key twice", aurora, `{"device_type":"o3-sensor","sub_device":"buzzer","action":"beep","value":{"seconds":1,"seconds":60}}`, 422, "value.seconds"},
			{"wait is a number", aurora, `{"device_type":"lock","action":"open","wait":3}`, 422, "wait"},
			{"wait too long", aurora, `{"device_type":"lock","action":"open","wait":"11s"}`, 422, "wait"},
			{"wait is no duration", aurora, `{"device_type":"lock","action":"open","wait":"soon"}`, 422, "wait"},
		} {
			got := b.ask("POST", "/devices/"+c.space+"/action", c.body)
			checkProblem(t, c.name, got, c.status, map[int]string{404: "not_found", 422: "invalid"}[c.status], c.field)
		}
		told := b.ask("POST", "/devices/"+aurora+"/action", `{"device_type":"o3-sensor","sub_device":"occupancy","action":"on"}`)
		if p := checkProblem(t, "what takes no commands", told, 422, "invalid", "action"); !strings.HasSuffix(p.Detail, "takes no commands") {
			t.Errorf("%q", p.Detail)
		}
		if after := b.ask("POST", "/devices/"+aurora+"/status", `{"device_type":"all"}`).body; after != before {
			t.Errorf("a refused order changed something:\n%s\n%s", before, after)
		}
	})
}

func TestFailedActionAnswersWithItsReceipt(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.move("aurora", "lock", "jam")
		got, r := b.order(`{"device_type":"lock","action":"open"}`)
		if got.StatusCode != 502 || r.State != device.Failed || r.Code != problem.NotFollowed || r.Reason == "" {
			t.Errorf("jammed: %d %s", got.StatusCode, got.body)
		}
		b.move("aurora", "o3-sensor", "unplug")
		time.Sleep(30 * time.Second)
		got, r = b.order(`{"device_type":"o3-sensor","sub_device":"ring-light","action":"on"}`)
		if r.State == device.Done || got.StatusCode != kindOf(r.Code).status {
			t.Errorf("unplugged: %d %s", got.StatusCode, got.body)
		}
	})
}

func TestIdempotencyKey(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const on, off = `{"device_type":"light","action":"on"}`, `{"device_type":"light","action":"off"}`
		_, first := b.order(on, "Idempotency-Key: k-1")
		b.order(off)
		got, again := b.order(on, "Idempotency-Key: k-1")
		if got.StatusCode != 200 || again.CommandID != first.CommandID || !again.FinishedAt.Equal(first.FinishedAt) {
			t.Errorf("again: %d %+v, want %+v", got.StatusCode, again, first)
		}
		if v := b.value(aurora, "light", ""); v != "off" {
			t.Errorf("it was carried out twice: the light is %s", v)
		}
		got = b.ask("POST", "/devices/"+aurora+"/action", off, "Idempotency-Key: k-1")
		checkProblem(t, "another order", got, 422, "invalid", "Idempotency-Key")

		_, secret, err := b.agent.Access.CreateKey(t.Context(), "other", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		got = b.net.do(t, "POST", "/devices/"+aurora+"/action", off, "Idempotency-Key: k-1", "X-API-Key: "+secret)
		if got.StatusCode != 200 {
			t.Errorf("the same key of another caller: %d %s", got.StatusCode, got.body)
		}
		for _, bad := range []string{strings.Repeat("k", 201), "a b", "ä"} {
			got := b.ask("POST", "/devices/"+aurora+"/action", on, "Idempotency-Key: "+bad)
			checkProblem(t, bad, got, 422, "invalid", "Idempotency-Key")
		}
	})
}

func TestControlSaysWhatMayBeDone(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const path = "/devices/" + aurora + "/control"
		golden(t, "control-fresh", b.ask("POST", path, `{"device_type":"light"}`).body)
		b.order(`{"device_type":"light","action":"intensity","value":40}`)
		golden(t, "control-after", b.ask("POST", path, `{"device_type":"light"}`).body)
		b.move("aurora", "o3-sensor", "unplug")
		time.Sleep(30 * time.Second)
		got := b.ask("POST", path, `{"device_type":"o3-sensor","sub_device":"ring-light"}`)
		if !strings.Contains(got.body, `"allowed":false`) || strings.Contains(got.body, `"allowed":true`) || !strings.Contains(got.body, "offline") {
			t.Errorf("offline: %s", got.body)
		}
		checkProblem(t, "unknown type", b.ask("POST", path, `{"device_type":"all"}`), 422, "invalid", "device_type")
		checkProblem(t, "unknown space", b.ask("POST", "/devices/x/control", `{"device_type":"lock"}`), 404, "not_found", "meeting_space_id")
	})
}

// TestInstructionsExamplesAreAccepted gives every example order that the
// building itself suggests.
func TestInstructionsExamplesAreAccepted(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		tried := 0
		for _, query := range []string{"device_type=lock", "device_type=light", "device_type=o3-sensor&sub_device=buzzer", "device_type=o3-sensor&sub_device=ring-light"} {
			var body struct {
				Response struct {
					Summary string `json:"summary"`
					Actions []struct {
						Name    string          `json:"name"`
						Example json.RawMessage `json:"example"`
					} `json:"actions"`
				} `json:"response"`
			}
			got := b.ask("GET", "/devices/"+aurora+"/instruction?"+query)
			if err := json.Unmarshal([]byte(got.body), &body); err != nil || body.Response.Summary == "" {
				t.Fatalf("%s: %s: %v", query, got.body, err)
			}
			for _, a := range body.Response.Actions {
				if got, r := b.order(string(a.Example)); got.StatusCode != 200 || r.State != device.Done {
					t.Errorf("%s: %d %s", a.Example, got.StatusCode, got.body)
				}
				tried++
			}
		}
		if tried < 10 {
			t.Errorf("only %d examples", tried)
		}
		const path = "/devices/" + aurora + "/instruction"
		checkProblem(t, "no type", b.ask("GET", path), 422, "invalid", "device_type")
		checkProblem(t, "unknown", b.ask("GET", path+"?device_type=toaster"), 422, "invalid", "device_type")
		checkProblem(t, "unknown sub", b.ask("GET", path+"?device_type=o3-sensor&sub_device=nose"), 404, "not_found", "sub_device")
	})
}
