package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"roomgate/drivers/picturetest"
)

const (
	demoKey      = "the-system-key-of-a-demo-in-a-test-0123456789"
	demoAurora   = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01"
	demoBorealis = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a02"
	demoCompany  = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac0"
)

// call asks the demo with its system key.
func (d *runningDemo) call(t *testing.T, method, path, contentType string, body []byte) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:"+d.ports["8080"]+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", demoKey)
	r.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return 0, ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

// TestDemoReachesThisMachine, if it is told to: by webhooks and by calendars,
// without TLS too, and by neither else.
func TestDemoReachesThisMachine(t *testing.T) {
	t.Parallel()
	var told atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told.Add(1)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:t\r\nEND:VCALENDAR\r\n")
			return
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	defer s.Close()
	calendar := "/meetingspace/" + demoAurora + "/calendar"
	for _, allowed := range []bool{false, true} {
		var more []string
		if allowed {
			more = []string{"--allow-loopback"}
		}
		d := startDemo(t, more...)
		const kind = "application/json"
		status, answer := d.call(t, "POST", "/api/v1/webhooks", kind, fmt.Appendf(nil, `{"organization_id":%q,"url":%q,"events":["booking.created"]}`, demoCompany, s.URL+"/in"))
		linked, said := d.call(t, "POST", calendar, kind, fmt.Appendf(nil, `{"url":%q}`, s.URL+"/a.ics"))
		if !allowed {
			if status != 422 || linked != 422 {
				t.Errorf("not allowed: %d %s, %d %s", status, answer, linked, said)
			}
			continue
		}
		if status != 201 || linked != 200 {
			t.Fatalf("allowed: %d %s, %d %s", status, answer, linked, said)
		}
		id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(answer)
		if id == nil {
			t.Fatal(answer)
		}
		if _, got := d.call(t, "POST", "/api/v1/webhooks/"+id[1]+"/test", kind, nil); !strings.Contains(got, "418") {
			t.Errorf("a demo hides nothing: %s", got)
		}
		var link struct {
			Response struct {
				FetchedAt *string `json:"fetched_at"`
				Error     string  `json:"error"`
			} `json:"response"`
		}
		for end := time.Now().Add(10 * time.Second); link.Response.FetchedAt == nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			_, got := d.call(t, "GET", calendar, kind, nil)
			if err := json.Unmarshal([]byte(got), &link); err != nil {
				t.Fatal(err)
			}
		}
		if link.Response.FetchedAt == nil {
			t.Errorf("the calendar: %+v", link)
		}
	}
	if told.Load() < 2 {
		t.Errorf("it was reached %d times", told.Load())
	}
}

// TestPicturesLeaveTheProcessWhole: bombs, the largest pictures that are taken,
// and large bodies, from several at once, keep a real process below 200 MiB.
func TestPicturesLeaveTheProcessWhole(t *testing.T) {
	if !measured {
		t.Skip("it measures: make test-all and make faults have it")
	}
	d := startDemo(t)
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewYCbCr(image.Rect(0, 0, 3840, 2160), image.YCbCrSubsampleRatio444), nil); err != nil {
		t.Fatal(err)
	}
	sent := [][]byte{picturetest.PNG(8294400, 1, 16, 6, 0, 1), picturetest.PNG(3840, 2160, 8, 6, 0, 2160), picturetest.PNG(3840, 2160, 16, 6, 0, 2160), photo.Bytes(), make([]byte, 4<<20), picturetest.PNG(1, 2000000, 16, 6, 0, 2000000)}
	var displays sync.WaitGroup
	var taken atomic.Int32
	for range 6 {
		displays.Go(func() {
			for _, body := range sent {
				status, answer := d.call(t, "POST", "/meetingspace/"+demoAurora+"/screenshot", "image/png", body)
				switch status {
				case 200:
					taken.Add(1)
				case 413, 415, 503:
				default:
					t.Errorf("%d bytes: %d %s", len(body), status, answer)
				}
			}
		})
	}
	displays.Wait()
	if peak := d.memory(t, "VmHWM"); peak > 200<<10 || taken.Load() == 0 {
		t.Errorf("%d pictures were taken, and the process took %d kB: want less than 200 MiB", taken.Load(), peak)
	}
}

// memory is how much of a kind the demo has, in kB (proc_pid_status(5)).
func (d *runningDemo) memory(t *testing.T, kind string) int {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(d.pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(kind + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no %s in %s", kind, status)
	}
	kB, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kB
}

// TestCalendarsLeaveTheProcessWhole: the largest calendars that are taken, for
// every room at once, keep a real process below 200 MiB.
func TestCalendarsLeaveTheProcessWhole(t *testing.T) {
	if !measured {
		t.Skip("it measures: make test-all and make faults have it")
	}
	var body bytes.Buffer
	body.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n")
	now := time.Now().UTC()
	for i := 0; body.Len() < 32<<20-2000; i++ {
		if i == 19_000 { // more is refused; the rest is over
			now = now.AddDate(-1, 0, 0)
		}
		start := now.Add(time.Duration(i) * 10 * time.Minute).Format("20060102T150405Z")
		fmt.Fprintf(&body, "BEGIN:VEVENT\r\nUID:%x%s\r\nDTSTART:%s\r\nDURATION:PT5M\r\nSUMMARY:%s\r\nEND:VEVENT\r\n", i, strings.Repeat("u", 500), start, strings.Repeat("t", 500))
	}
	body.WriteString("END:VCALENDAR\r\n")
	var sent atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(body.Bytes())
		sent.Add(1)
	}))
	defer s.Close()
	d := startDemo(t, "--allow-loopback")
	for _, room := range []string{demoAurora, demoBorealis} {
		if status, answer := d.call(t, "POST", "/meetingspace/"+room+"/calendar", "application/json", fmt.Appendf(nil, `{"url":%q}`, s.URL+"/"+room)); status != 200 {
			t.Fatalf("%d %s", status, answer)
		}
	}
	peak := 0 // of what is not the database's file, whose pages the kernel takes back
	for _, room := range []string{demoAurora, demoBorealis} {
		for end := time.Now().Add(90 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			peak = max(peak, d.memory(t, "RssAnon"))
			_, got := d.call(t, "GET", "/meetingspace/"+room+"/calendar", "application/json", nil)
			if strings.Contains(got, `"fetched_at":"`) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("it was not read: %s", got)
			}
		}
	}
	t.Logf("at most %d kB", peak)
	if peak > 200<<10 || sent.Load() < 2 {
		t.Errorf("%d calendars were sent, and the process took %d kB: want less than 200 MiB", sent.Load(), peak)
	}
}

// TestDemoNamesItsOrganization: people read the name of the demo's organization, not its id.
func TestDemoNamesItsOrganization(t *testing.T) {
	d := startDemo(t)
	if _, all := d.call(t, "GET", "/v2.0/organizations", "application/json", nil); !strings.Contains(all, `"name":"Demo company"`) || !strings.Contains(all, demoCompany) {
		t.Errorf("the organizations are %s", all)
	}
}
