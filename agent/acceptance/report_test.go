package acceptance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/health"
)

func example() Report {
	return Report{Space: "Aurora <b>", SpaceID: "7c0b", Timezone: "Europe/Berlin", Gateway: health.Identity{ID: "house-1", Name: "House"},
		Version: "1.2.3", Tool: "1.2.4", By: "A. <script>alert(1)</script> Installer", TimeTrust: clock.Trusted,
		StartedAt: time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC), FinishedAt: time.Date(2026, 3, 1, 23, 45, 0, 0, time.UTC),
		Devices: []DeviceReport{
			{ID: "lock-1", Type: "lock", Driver: "lock-relay", Result: Failed, Steps: []Step{
				{Name: "open", Result: Failed, Note: "bolt still closed", LatencyMS: 500.4}}},
			{ID: "camera-1", Type: "camera", Driver: "camera-http", Result: Passed,
				Steps:    []Step{{Name: "snapshot", Result: Passed, Seen: "on", Source: "picture", LatencyMS: 1200}},
				Pictures: []Picture{{Caption: "the camera", ContentType: "image/png", Width: 2, Height: 2, Data: []byte("PNG")}}},
			{ID: "o3-1", Type: "o3-sensor", Driver: "o3-mqtt", Result: ByMachine,
				Steps: []Step{{SubDevice: "buzzer", Name: "did it beep?", Result: Unseen}}},
		}}
}

func html(t *testing.T, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The page says what is in the report, and is whole by itself.
func TestPage(t *testing.T) {
	r := example()
	r.Judge()
	page := html(t, r)
	for _, want := range []string{"Aurora &lt;b&gt;", "Not accepted: lock", "bolt still closed", "500 ms", "1.2 s", "house-1 (House)", "1.2.3", "1.2.4",
		"A. &lt;script&gt;", "2026-03-02 00:30:00 CET", "buzzer: did it beep?", "<small>(picture)</small>",
		`src="data:image/png;base64,` + base64.StdEncoding.EncodeToString([]byte("PNG")) + `"`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not in the page", want)
		}
	}
	for _, wrong := range []string{"<script", "http://", "https://", "@import", "url(", "<link", "Simulated", "ZgotmplZ"} {
		if strings.Contains(page, wrong) {
			t.Errorf("%s is in the page", wrong)
		}
	}
	if n := strings.Count(page, "<tr>") - strings.Count(page, "</tr>"); n != 0 {
		t.Errorf("%d rows are open", n)
	}
}

// A demo's report cannot be taken for a room's, nor a wrong clock's for a
// right one's.
func TestPageOfADemo(t *testing.T) {
	r := example()
	r.Gateway.Simulated, r.TimeTrust, r.By = true, clock.Untrusted, ""
	page := html(t, r)
	for _, want := range []string{"proves nothing about a real room", "untrusted: the times may be wrong", "nobody"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not in the page", want)
		}
	}
}

// Only pictures get into the page, whatever a camera calls its answer.
func TestDataURI(t *testing.T) {
	for kind, want := range map[string]string{"image/jpeg": "data:image/jpeg;base64,YQ==", "image/svg+xml": "", "text/html": "", "": ""} {
		if got := dataURI(Picture{ContentType: kind, Data: []byte("a")}); string(got) != want {
			t.Errorf("%s is %s", kind, got)
		}
	}
}

func TestJudge(t *testing.T) {
	for want, results := range map[Verdict][]Result{Accepted: {Passed, Passed}, Measured: {Passed, ByMachine},
		Incomplete: {ByMachine, Skipped, Passed}, Refused: {Skipped, Failed, ByMachine}} {
		r := Report{}
		for _, x := range results {
			r.Devices = append(r.Devices, DeviceReport{Type: "lock", Result: x})
		}
		if r.Judge(); r.Verdict != want || (len(r.Failed) > 0) != (want == Refused) {
			t.Errorf("%v is %s, failed %v, want %s", results, r.Verdict, r.Failed, want)
		}
	}
	for want, results := range map[Result][]Result{Passed: {Passed}, ByMachine: {Passed, Unseen}, Skipped: {Unseen, Skipped}, Failed: {Failed, Skipped}} {
		d := DeviceReport{}
		for _, x := range results {
			d.Steps = append(d.Steps, Step{Result: x})
		}
		if d.judge(); d.Result != want {
			t.Errorf("%v is %s, want %s", results, d.Result, want)
		}
	}
}

// The name is a file name by the space's own day, whatever the space is called.
func TestName(t *testing.T) {
	for space, want := range map[string]string{"Aurora": "aurora-2026-03-02", "Raum 3.11 / Süd": "raum-3-11---s-d-2026-03-02",
		"../../etc": "etc-2026-03-02", "会議室": "7c0b-2026-03-02"} {
		r := example()
		r.Space = space
		if got := r.Name(); got != want {
			t.Errorf("%s is %s, want %s", space, got, want)
		}
	}
}

// The JSON has everything but the pictures' data.
func TestJSON(t *testing.T) {
	r := example()
	r.Judge()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(raw, &back); err != nil || back.Verdict != Refused || back.Devices[1].Pictures[0].Width != 2 {
		t.Errorf("%v: %s", err, raw)
	}
	if regexp.MustCompile(base64.StdEncoding.EncodeToString([]byte("PNG"))).Match(raw) {
		t.Errorf("the picture is in %s", raw)
	}
}
