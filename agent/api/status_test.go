package api

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestStatus(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, c := range []struct{ name, body, want string }{
			{"lock", `{"device_type":"lock"}`, `{"response":{"device":"lock","value":"closed","status":"online"}}`},
			{"hub", `{"device_type":"o3-sensor"}`, `{"response":{"device":"o3-sensor","value":"","status":"online"}}`},
			{"platform's spelling", `{"device_type":"o3-sensor","sub_device":"temprature"}`, `{"response":{"device":"temperature","value":"21.5","status":"normal"}}`},
			{"our spelling", `{"device_type":"o3-sensor","sub_device":"temperature"}`, `{"response":{"device":"temperature","value":"21.5","status":"normal"}}`},
			{"no sub-device", ` { "sub_device" : null , "device_type" : "light" } `, `{"response":{"device":"light","value":"off","status":"online"}}`},
			{"escaped", `{"device\u005ftype":"\u006cock"}`, `{"response":{"device":"lock","value":"closed","status":"online"}}`},
		} {
			for _, root := range []string{"", "/v1.0"} {
				got := b.ask("POST", root+"/devices/"+aurora+"/status", c.body)
				if got.StatusCode != 200 || got.body != c.want || got.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%s%s: %d %s %s", root, c.name, got.StatusCode, got.Header.Get("Content-Type"), got.body)
				}
			}
		}
	})
}

func TestStatusOfAll(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		got := b.ask("POST", "/devices/"+aurora+"/status", `{"device_type":"all"}`)
		var body struct {
			Response struct {
				Devices []map[string]string `json:"devices"`
			} `json:"response"`
		}
		if err := json.Unmarshal([]byte(got.body), &body); err != nil {
			t.Fatalf("%v in %s", err, got.body)
		}
		var names []string
		for _, d := range body.Response.Devices {
			if len(d) != 3 || d["status"] == "" {
				t.Errorf("record is %v", d)
			}
			names = append(names, d["device"])
		}
		const want = "lock light o3-sensor temperature buzzer occupancy ring-light"
		if strings.Join(names, " ") != want {
			t.Errorf("devices are %v", names)
		}
	})
}

func TestStatusRefusals(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, c := range []struct {
			name, space, body string
			status            int
			code, field       string
		}{
			{"unknown space", nowhere, `{"device_type":"lock"}`, 404, "not_found", "meeting_space_id"},
			{"all of an unknown space", nowhere, `{"device_type":"all"}`, 404, "not_found", "meeting_space_id"},
			{"device that is not there", aurora, `{"device_type":"camera"}`, 404, "not_found", "device_type"},
			{"unknown type", aurora, `{"device_type":"toaster"}`, 422, "invalid", "device_type"},
			{"unknown sub-device", aurora, `{"device_type":"o3-sensor","sub_device":"nose"}`, 404, "not_found", "sub_device"},
			{"sub-device of a lock", aurora, `{"device_type":"lock","sub_device":"buzzer"}`, 404, "not_found", "sub_device"},
			{"sub-device of all", aurora, `{"device_type":"all","sub_device":"buzzer"}`, 422, "invalid", "sub_device"},
			{"no type", aurora, `{}`, 422, "invalid", "device_type"},
			{"type is null", aurora, `{"device_type":null}`, 422, "invalid", "device_type"},
			{"type is a number", aurora, `{"device_type":1}`, 422, "invalid", "device_type"},
			{"unknown key", aurora, `{"device_type":"lock","color":"red"}`, 422, "invalid", "color"},
			{"key in capitals", aurora, `{"Device_Type":"lock"}`, 422, "invalid", "Device_Type"},
			{"key twice", aurora, `{"device_type":"lock","device_type":"fan"}`, 422, "invalid", "device_type"},
			{"rubbish behind", aurora, `{"device_type":"lock"}{}`, 400, "malformed", ""},
			{"not an object", aurora, `["lock"]`, 400, "malformed", ""},
			{"not JSON", aurora, `device_type=lock`, 400, "malformed", ""},
			{"not UTF-8", aurora, "{\"device_type\":\"\xff\"}", 400, "malformed", ""},
			{"empty", aurora, ` `, 400, "malformed", ""},
			{"too deep", aurora, strings.Repeat("[", 100) + strings.Repeat("]", 100), 400, "malformed", ""},
			{"too large", aurora, `{"device_type":"` + strings.Repeat("x", maxBody) + `"}`, 413, "payload_too_large", ""},
		} {
			got := b.ask("POST", "/devices/"+c.space+"/status", c.body)
			checkProblem(t, c.name, got, c.status, c.code, c.field)
		}
	})
}

// checkProblem holds an answer to RFC 9457 and to what the test expects.
func checkProblem(t *testing.T, name string, got answer, status int, code, field string) problemBody {
	t.Helper()
	var p problemBody
	if err := json.Unmarshal([]byte(got.body), &p); err != nil {
		t.Errorf("%s: %d %q: %v", name, got.StatusCode, got.body, err)
	}
	if got.StatusCode != status || p.Status != status || string(p.Code) != code || p.Field != field {
		t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
	}
	if got.Header.Get("Content-Type") != "application/problem+json" || p.Type != problemType+code || p.Title == "" || p.Detail == "" {
		t.Errorf("%s: not a whole problem: %s %s", name, got.Header.Get("Content-Type"), got.body)
	}
	return p
}
