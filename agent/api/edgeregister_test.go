package api

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
)

// claim makes a pairing code.
func (b *building) claim(space string) string {
	b.t.Helper()
	code, _, err := b.agent.Edges.NewCode(space)
	if err != nil {
		b.t.Fatal(err)
	}
	return code
}

// register registers an edge device without a key, and returns its id.
func (b *building) register(space, more string) string {
	b.t.Helper()
	id, _ := b.registered(space, more)
	return id
}

// edgeKey is the key of another edge device, of the kind that may most.
func (b *building) edgeKey(space string) string {
	b.t.Helper()
	_, key := b.registered(space, `,"kind":"display"`)
	return key
}

func (b *building) registered(space, more string) (id, key string) {
	b.t.Helper()
	got := b.net.do(b.t, "POST", "/edge/register", `{"claim_code":"`+b.claim(space)+`"`+more+`}`)
	var answer struct {
		Response struct {
			ID  string `json:"device_id"`
			Key string `json:"api_key"`
		}
	}
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil || got.StatusCode != 201 || answer.Response.ID == "" || answer.Response.Key == "" {
		b.t.Fatalf("register: %d %s, %v", got.StatusCode, got.body, err)
	}
	return answer.Response.ID, answer.Response.Key
}

// ofHost is what an answer says of the machine that the test runs on, and what is
// made up again.
var ofHost = regexp.MustCompile(`("addresses": )\[[^]]*\]|("(?:device_id|api_key)": )"[^"]*"`)

func TestEdgeDeviceClaimsItsSpace(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		code := b.ask("POST", "/meetingspace/"+aurora+"/claim-code")
		var made struct {
			Response struct {
				Code string `json:"claim_code"`
			}
		}
		if err := json.Unmarshal([]byte(code.body), &made); err != nil || code.StatusCode != 201 || len(made.Response.Code) != 9 {
			t.Fatalf("the code: %d %s, %v", code.StatusCode, code.body, err)
		}
		typed := strings.ToLower(strings.ReplaceAll(made.Response.Code, "-", " "))
		body := `{"claim_code":"` + typed + `","kind":"display","name":"door","serial":"A1"}`
		got := b.net.do(t, "POST", "/v1.0/edge/register", body)
		var wide map[string]any
		if err := json.Unmarshal([]byte(got.body), &wide); err != nil || got.StatusCode != 201 {
			t.Fatalf("register: %d %s", got.StatusCode, got.body)
		}
		indented, _ := json.MarshalIndent(wide, "", "  ")
		golden(t, "edge-registered", ofHost.ReplaceAllString(string(indented), `$1$2"CHANGES"`))
		if got := b.net.do(t, "POST", "/edge/register", body); got.StatusCode != 403 {
			t.Errorf("the code is good twice: %d %s", got.StatusCode, got.body)
		}
		if got := b.ask("GET", "/devices/"+aurora+"/events?event_type=edgeRegistered"); !strings.Contains(got.body, `"name":"door"`) || strings.Contains(got.body, made.Response.Code) {
			t.Errorf("told %s", got.body)
		}
	})
}

func TestClaimCodesEnd(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		refused := func(why, code string) {
			t.Helper()
			if got := b.net.do(t, "POST", "/edge/register", `{"claim_code":"`+code+`"}`); got.StatusCode != 403 || !strings.Contains(got.body, `"field":"claim_code"`) {
				t.Errorf("%s: %d %s", why, got.StatusCode, got.body)
			}
		}
		old := b.claim(aurora)
		other := b.claim(borealis)
		again := b.claim(aurora)
		refused("an older one of the space", old)
		time.Sleep(15 * time.Minute)
		refused("one that is too old", again)
		refused("one that is too old", other)
		refused("nothing", "")
		refused("something long", strings.Repeat("A", 1000))
		good := b.claim(aurora)
		for range 10 {
			b.net.do(t, "POST", "/edge/register", `{"claim_code":"AAAA-AAAA"}`)
		}
		slow := b.net.do(t, "POST", "/edge/register", `{"claim_code":"AAAA-AAAA"}`)
		if slow.StatusCode != 429 || slow.Header.Get("Retry-After") == "" {
			t.Errorf("one more after ten wrong ones: %d %s", slow.StatusCode, slow.body)
		}
		if got := b.net.do(t, "POST", "/edge/register", `{"claim_code":"`+good+`"}`); got.StatusCode != 201 {
			t.Errorf("the right one after wrong ones: %d %s", got.StatusCode, got.body)
		}
		for body, field := range map[string]string{
			`{}`: "claim_code", `{"claim_code":"A","kind":"robot"}`: "kind",
			`{"claim_code":"A","name":"` + strings.Repeat("a", 101) + `"}`: "name", `{"claim_code":"A","key":"x"}`: "key",
		} {
			if got := b.net.do(t, "POST", "/edge/register", body); got.StatusCode != 422 || !strings.Contains(got.body, `"field":"`+field+`"`) {
				t.Errorf("%s: %d %s", body, got.StatusCode, got.body)
			}
		}
		if got := b.net.do(t, "POST", "/meetingspace/"+aurora+"/claim-code"); got.StatusCode != 401 {
			t.Errorf("a code without a key: %d", got.StatusCode)
		}
	})
}

func TestEdgeDevicesBeat(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		board, display := b.register(borealis, `,"serial":"B1"`), b.register(borealis, `,"kind":"display"`)
		beat := func(body string) answer { t.Helper(); return b.ask("POST", "/edge/heartbeat", body) }
		offline := func() bool {
			got := b.ask("POST", "/devices/"+borealis+"/status", `{"device_type":"meeting-room-display"}`)
			return strings.Contains(got.body, `"offline"`)
		}
		if got := beat(`{"device_id":"` + board + `","uptime_s":60,"version":"1.2"}`); got.body != `{"orders":[]}` {
			t.Errorf("a board: %s", got.body)
		}
		time.Sleep(10 * time.Second)
		if !offline() {
			t.Error("a board that beats shows the display's page")
		}
		for range 20 { // what is offline is asked ever more seldom
			if got := beat(`{"device_id":"` + display + `"}`); got.StatusCode != 200 {
				t.Errorf("a display: %d %s", got.StatusCode, got.body)
			}
			time.Sleep(2 * time.Second)
		}
		if offline() {
			t.Error("a display that beats is offline")
		}
		if got := b.ask("GET", "/gateway/edge"); !strings.Contains(got.body, `"address":"192.0.2.7","uptime_s":60,"version":"1.2"`) || strings.Count(got.body, "device_id") != 2 {
			t.Errorf("listed: %s", got.body)
		}
		elsewhere := b.register(aurora, `,"serial":"B1"`) // of another organization, so it is another board
		if got := beat(`{"device_id":"` + board + `"}`); got.StatusCode != 200 {
			t.Errorf("a board of another organization puts it out: %d %s", got.StatusCode, got.body)
		}
		if got := b.ask("DELETE", "/gateway/edge/"+elsewhere); got.StatusCode != 204 {
			t.Errorf("deleted: %d %s", got.StatusCode, got.body)
		}
		again := b.register(borealis, `,"serial":"B1"`)
		for body, want := range map[string]int{
			`{"device_id":"` + board + `"}`:                                     404, // registered again
			`{"device_id":"` + again + `"}`:                                     200,
			`{"device_id":"` + again + `","meeting_space_id":"` + aurora + `"}`: 409,
			`{"device_id":"` + again + `","uptime_s":-1}`:                       422,
			`{}`: 422,
			`{"meeting_space_id":"` + borealis + `"}`: 200,
			`{"meeting_space_id":"` + nowhere + `"}`:  404,
		} {
			if got := beat(body); got.StatusCode != want {
				t.Errorf("%s: %d %s, want %d", body, got.StatusCode, got.body, want)
			}
		}
		if got := b.ask("DELETE", "/gateway/edge/"+again); got.StatusCode != 204 {
			t.Errorf("deleted: %d %s", got.StatusCode, got.body)
		}
		if got := beat(`{"device_id":"` + again + `"}`); got.StatusCode != 404 {
			t.Errorf("a deleted one: %d", got.StatusCode)
		}
	})
}

func TestEdgeControlsAndEnables(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		golden(t, "edge-sensors", b.ask("GET", "/edge/sensors?meeting_space_id="+aurora).body)
		for body, want := range map[string]int{
			`{"device_type":"light","on":true}`:                            200,
			`{"device_type":"light","intensity":40}`:                       200,
			`{"device_type":"light","intensity":101}`:                      422,
			`{"device_type":"light"}`:                                      422,
			`{"device_type":"light","on":true,"intensity":4}`:              422,
			`{"device_type":"lock","on":true}`:                             422,
			`{"device_type":"fan","on":true}`:                              404,
			`{"device_type":"o3-sensor","sub_device":"buzzer","on":false}`: 200,
			`{"device_type":"light","action":"open"}`:                      422,
		} {
			body = `{"meeting_space_id":"` + aurora + `",` + body[1:]
			if got := b.ask("POST", "/edge/control", body); got.StatusCode != want {
				t.Errorf("%s: %d %s, want %d", body, got.StatusCode, got.body, want)
			}
		}
		if got := b.ask("POST", "/edge/enable", `{"device_id":"aurora-light","enabled":false}`); !strings.Contains(got.body, `"enabled":false`) {
			t.Errorf("disabled: %s", got.body)
		}
		got := b.ask("GET", "/edge/sensors?meeting_space_id="+aurora)
		if !strings.Contains(got.body, `"device_type":"light","enabled":false,"active":false`) || !strings.Contains(got.body, "offline: disabled") {
			t.Errorf("sensors %s", got.body)
		}
		for path, want := range map[string]int{"": 422, "?meeting_space_id=" + nowhere: 404} {
			if got := b.ask("GET", "/edge/sensors"+path); got.StatusCode != want {
				t.Errorf("sensors of %q: %d", path, got.StatusCode)
			}
		}
		if got := b.ask("POST", "/edge/enable", `{"device_id":"x","enabled":true}`); got.StatusCode != 404 {
			t.Errorf("a device that is not there: %d", got.StatusCode)
		}
	})
}

// TestRegistrationNamesItsSpace, as the platform's boards do, beside the code.
func TestRegistrationNamesItsSpace(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		for _, path := range []string{"/edge/register", "/v2.0/edge-devices/register"} {
			code := b.claim(aurora)
			ask := func(space string) answer {
				return b.net.do(t, "POST", path, `{"claim_code":"`+code+`","meeting_space_id":"`+space+`"}`)
			}
			checkProblem(t, "of another space", ask(borealis), 409, "conflict", "meeting_space_id")
			checkProblem(t, "a wrong code tells nothing", b.net.do(t, "POST", path, `{"claim_code":"AAAA-AAAA","meeting_space_id":"`+aurora+`"}`), 403, "forbidden", "claim_code")
			if got := ask(aurora); got.StatusCode != 201 || !strings.Contains(got.body, aurora) {
				t.Errorf("the code was used up: %d %s", got.StatusCode, got.body)
			}
			checkProblem(t, "twice", ask(aurora), 403, "forbidden", "claim_code")
		}
	})
}
