package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestConsoleProvesARoom: a walk asks, its answers are in the report, and one can be
// stopped; no two are under way.
func TestConsoleProvesARoom(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.server.Run(ctx) }()
		who := b.atConsole()
		do := func(action, more string, want int) string {
			t.Helper()
			got := b.net.do(t, "POST", "/console/accept/"+action, who, `{"id":"`+aurora+`"`+more+`}`)
			if got.StatusCode != want {
				t.Errorf("%s: %d %s", action, got.StatusCode, got.body)
			}
			return got.body
		}
		if shown := do("identify", `,"device_type":"light"`, 200); !strings.Contains(shown, "goes on and off three times") {
			t.Errorf("it shows %s", shown)
		}
		do("answer", `,"question":1,"answer":"yes"`, 409)
		do("stop", "", 409)
		do("start", `,"by":" "`, 422)
		do("dance", "", 404)
		do("start", `,"by":"S. Installer","asks":true`, 200)
		if said := do("start", `,"by":"T. Other"`, 409); !strings.Contains(said, "somebody is accepting Aurora") {
			t.Errorf("another one begins: %s", said)
		}
		asked := 0
		for b.server.errands.WalkOf(aurora).Running {
			if time.Sleep(time.Second); b.server.errands.WalkOf(aurora).Question == "" {
				continue
			}
			asked++
			if page := b.net.do(t, "GET", "/console/stream/accept?id="+aurora, who).body; !strings.Contains(page, "answer-yes") || !strings.Contains(page, fmt.Sprintf(`value="%d"`, asked)) {
				t.Fatalf("the page is %s", page)
			}
			number := fmt.Sprintf(`,"question":%d`, asked)
			do("answer", number+`,"answer":"maybe"`, 422)
			do("answer", fmt.Sprintf(`,"question":%d,"answer":"no"`, asked-1), 409)
			do("answer", `,"answer":"no"`, 409)
			do("answer", number+`,"answer":"yes","note":"seen `+strings.Repeat("x", asked)+`"`, 200)
			do("answer", number+`,"answer":"no"`, 409)
			synctest.Wait()
		}
		got := b.net.do(t, "GET", "/console/report/"+aurora+"?format=json", who)
		var report struct {
			By      string
			Devices []struct{ Steps []struct{ Note string } }
		}
		if err := json.Unmarshal([]byte(got.body), &report); err != nil || report.By != "S. Installer" || asked < 3 || !strings.Contains(got.body, "seen xxx") {
			t.Errorf("after %d answers: %v %s", asked, err, got.body)
		}
		if done := b.ask("GET", "/devices/events?event_type=commandCompleted").body; strings.Count(done, `"via":"http"`) < 10 {
			t.Errorf("the log tells of %s", done)
		}
		page := b.net.do(t, "GET", "/console/report/"+aurora, who)
		if !strings.Contains(page.Header.Get("Content-Disposition"), `filename="aurora-`) || !strings.Contains(page.body, "S. Installer") {
			t.Errorf("the report: %v %s", page.Header, page.body)
		}
		do("start", `,"by":"S. Installer","asks":true`, 200)
		for b.server.errands.WalkOf(aurora).Question == "" {
			time.Sleep(time.Second)
		}
		do("stop", "", 200)
		time.Sleep(time.Minute)
		if w := b.server.errands.WalkOf(aurora); w.Running || !strings.Contains(w.Wrong, "stopped") {
			t.Errorf("it is %+v", w)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestSignedOutProvesNoRoom: what somebody has begun in a room ends with his session, and
// the devices are brought back to what they were.
func TestSignedOutProvesNoRoom(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.server.Run(ctx) }()
		for name, end := range map[string]func(who string) answer{
			"signs out":            func(who string) answer { return b.net.do(t, "DELETE", "/console/session", who) },
			"everybody signed out": func(string) answer { return b.ask("POST", "/gateway/users/sign-out", `{"everybody":true}`) },
		} {
			who, other := b.atConsole(), b.atConsole()
			if got := b.net.do(t, "POST", "/console/accept/start", who, `{"id":"`+aurora+`","by":"S. Installer","asks":true}`); got.StatusCode != 200 {
				t.Fatalf("%d %s", got.StatusCode, got.body)
			}
			for b.server.errands.WalkOf(aurora).Question == "" {
				time.Sleep(time.Second)
			}
			if got := b.net.do(t, "DELETE", "/console/session", other); got.StatusCode != 204 || !b.server.errands.WalkOf(aurora).Running {
				t.Errorf("another one signs out: %d %s", got.StatusCode, got.body)
			}
			if got := end(who); got.StatusCode != 204 {
				t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
			}
			synctest.Wait()
			if w := b.server.errands.WalkOf(aurora); w.Running || !strings.Contains(w.Wrong, "signed out") {
				t.Errorf("%s: the walk is %+v", name, w)
			}
			if got := b.net.do(t, "POST", "/console/accept/identify", who, `{"id":"`+aurora+`","device_type":"light"}`); got.StatusCode != 401 {
				t.Errorf("%s: then %d %s", name, got.StatusCode, got.body)
			}
		}
		who, shown := b.atConsole(), make(chan answer, 1)
		go func() {
			shown <- b.net.do(t, "POST", "/console/accept/identify", who, `{"id":"`+aurora+`","device_type":"light"}`)
		}()
		time.Sleep(time.Second)
		b.net.do(t, "DELETE", "/console/session", who)
		synctest.Wait()
		select {
		case got := <-shown:
			if got.StatusCode == 200 {
				t.Errorf("the light goes on and off for who has signed out: %s", got.body)
			}
		default:
			t.Error("the light goes on showing itself")
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
