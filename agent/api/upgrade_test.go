package api

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent"
	"roomgate/agent/config"
	"roomgate/agent/journal/journaltest"
	"roomgate/configs"
	"roomgate/drivers/all"
	"roomgate/drivers/sim/plan"
)

// before is what the last version before an upgrade left behind: its examples
// of a configuration, a database with one of everything, cut off by a kill, and
// how it answered the questions of upgraded.
const before = "testdata/upgrade/536cb25"

// upgraded are the questions, and the files of their answers.
var upgraded = map[string]string{
	"bookings":          "/bookings",
	"rules":             "/rules",
	"messages":          "/messages",
	"organizations":     "/api/v1/organizations",
	"organization-keys": "/api/v1/organizations/7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac0/api-keys",
	"webhooks":          "/api/v1/webhooks?organization_id=7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac0",
	"deliveries":        "/api/v1/webhooks/01m82z7fzd9fc026x3p81dd8bs/deliveries",
	"unlock-codes":      "/meetingspace/" + aurora + "/unlock-codes",
	"claim":             "/claim",
	"meeting-spaces":    "/meetingspace/get_meeting_space",
}

// TestDataOfTheVersionBefore opens that database, a minute after it was cut
// off: nothing that was acknowledged then is missing or reads differently.
func TestDataOfTheVersionBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 23, 1, 13, 0, 0, time.UTC)))
		b := openBefore(t)
		defer b.end()
		ask := func(path, header string) string {
			t.Helper()
			got := b.net.do(t, "GET", path, header)
			if got.StatusCode != http.StatusOK {
				t.Errorf("GET %s with %s...: %d %s", path, header[:16], got.StatusCode, got.body)
			}
			return got.body
		}
		for name, path := range upgraded {
			want, err := os.ReadFile(filepath.Join(before, "answers", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			if got := ask(path, "X-API-Key: upgrade-test-system-key"); still(got) != still(string(uniformTimes(want))) {
				t.Errorf("GET %s\ngot  %s\nwant %s", path, got, want)
			}
		}
		// What happened then is told from the beginning, in the same order.
		want, err := os.ReadFile(filepath.Join(before, "answers", "events.json"))
		if err != nil {
			t.Fatal(err)
		}
		told, _, _ := strings.Cut(string(want), `],"next_cursor"`)
		if got := ask("/devices/events?limit=200", "X-API-Key: upgrade-test-system-key"); !strings.HasPrefix(got, told) {
			t.Errorf("events of then: got %s\nwant %s", got, told)
		}
		// The keys that were handed out still open.
		ask("/bookings", "X-API-Key: rgsys_tzdj7c5ukp4bx2ad2psgydpi4w22gnityjd4265cpizltkhhdpda_bf5a7a69")
		ask("/bookings", "X-Org-Api-Key: rgorg_qn6w5dnualw5rrg3vqq6ofprgj3pmsrv5zavuvpzxvlxqaybn5lq_5a79a42b")
		ask("/edge/sensors?meeting_space_id="+borealis,
			"X-API-Key: rgedge_uel4q6dtzfes5ir2dwwamfgq7o36ob6lvxu55f7dmn7wneghazsa_2ea9480c")
		// A command of then is known by its id, and not carried out again.
		again := b.net.do(t, "POST", "/devices/"+borealis+"/action", "X-API-Key: upgrade-test-system-key",
			"Idempotency-Key: keep-command", `{"device_type":"fan","action":"on"}`)
		if !strings.Contains(again.body, `"finished_at":"2026-11-23T01:09:51.759Z"`) { // to the nanosecond until times had one form
			t.Errorf("the same command again: %d %s", again.StatusCode, again.body)
		}
	})
}

// changingNow is what a running building says of now. The link to the cloud is
// not up in this test.
var changingNow = regexp.MustCompile(`"cloud_connected":(true|false)|"(last_used_at|next_available_time|status)":("[^"]*"|null)`)

func still(answer string) string { return strings.TrimSpace(changingNow.ReplaceAllString(answer, "")) }

// openBefore runs this version with the data and the configuration of before.
func openBefore(t *testing.T) *building {
	b := &building{t: t, log: &journaltest.Log{}, net: newPipes("192.0.2.7"), socket: newPipes("")}
	dir := t.TempDir()
	b.dir = dir
	unpack(t, filepath.Join(before, "roomgate.db.gz"), filepath.Join(dir, agent.Database))
	secret, err := os.ReadFile(filepath.Join(before, "device.secret"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "device.secret"), secret, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(filepath.Join(before, "demo.yaml"), all.All(),
		config.Setting{Key: "clock.trust", Value: config.TrustAlways, Origin: "test"},
		config.Setting{Key: "cloud.url", Value: "mqtt://broker.demo", Origin: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if b.world, err = plan.Parse(configs.DemoWorld); err != nil {
		t.Fatal(err)
	}
	outside := &http.Client{Transport: unreachable{}}
	b.agent, err = agent.Open(t.Context(), agent.Options{Config: c, Buses: b.world, DataDir: dir,
		Version: "test", Simulated: true, Dial: unplugged, Calendars: outside, Webhooks: outside, Push: outside})
	if err != nil {
		t.Fatal(err)
	}
	b.server = New(Options{Agent: b.agent, Version: "test", Names: []string{"gateway"}})
	b.end = func() {
		if err := b.agent.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		b.world.Close()
	}
	b.run()
	b.serve()
	return b
}

// unplugged is a line to the cloud that leads nowhere.
func unplugged(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("nobody answers")
}

func unpack(t *testing.T, packed, to string) {
	t.Helper()
	in, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, z); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestConfigurationOfTheVersionBefore reads the example of then, which shows
// every key, as it is and with all that it only shows switched on.
func TestConfigurationOfTheVersionBefore(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(before, "gateway.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := config.Parse("gateway.yaml", text, all.All()); err != nil {
		t.Error(err)
	}
	on := regexp.MustCompile(`(?m)^(\s*)#([a-z0-9_-]+:( |$))`).ReplaceAll(text, []byte("$1$2"))
	// Of two ways to give a secret the example shows both, a gateway wants one.
	on = regexp.MustCompile(`(?m)^.* (password|token): .*$`).ReplaceAll(on, nil)
	if _, err := config.Parse("gateway.yaml", on, all.All()); err != nil {
		t.Error(err)
	}
}

// TestLogOfTheVersionBefore: the chain of the log begins after what was written
// then, which goes on being read.
func TestLogOfTheVersionBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 23, 1, 13, 0, 0, time.UTC)))
		b := openBefore(t)
		defer b.end()
		b.net.do(t, "POST", "/devices/"+borealis+"/action", "X-API-Key: upgrade-test-system-key", `{"device_type":"fan","action":"on"}`)
		c, err := b.agent.Events.Verify(t.Context())
		if err != nil || c.Bad != 0 || !c.Whole || c.First < 2 || c.First > c.Last {
			t.Errorf("%+v, %v", c, err)
		}
		h := b.agent.Health.Report()
		if h.LogNewest < c.Last || len(h.LogHead) != 24 {
			t.Errorf("the heartbeat says %d %q", h.LogNewest, h.LogHead)
		}
	})
}
