package doctor

import (
	"strings"
	"testing"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/health"
)

func TestContested(t *testing.T) {
	x := &examination{Options: Options{Building: &Building{Identity: health.Identity{ID: "berlin-3"}}}}
	if found := x.contested(); found != nil {
		t.Errorf("alone: %v", found)
	}
	x.Building.CloudContested = 7
	x.contested()[0].is(t, "two with one id", Fail, "another gateway probably uses the id berlin-3: the broker has closed the last 7 connections")
}

// What the running gateway met is said as it met it, and what to do about it.
func TestTroubleOfTheCloud(t *testing.T) {
	met := &health.Trouble{Cause: "may_not_write", Seen: "the broker closes the connection when this user writes up/event",
		Fix: "let this user write all below up/ at the broker", Error: "EOF", At: time.Unix(1e9, 0), Times: 9, Since: time.Unix(1e9-3*3600, 0)}
	x := &examination{Options: Options{Building: &Building{}}}
	if found := x.troubled(); found != nil {
		t.Errorf("without: %v", found)
	}
	x.Building.CloudTrouble = met
	x.Building.Clock.Now = time.Unix(1e9+60, 0)
	f := x.troubled()[0]
	f.is(t, "refused", Fail, "not connected, and no connection has lasted a minute since 2001-09-08T22:46:40Z (3 hours): the broker closes the connection when this user writes up/event, 9 times in a row (EOF)")
	if f.Fix != met.Fix {
		t.Errorf("to do: %q", f.Fix)
	}
	if linked := x.linked(good("cloud broker", "answers")); linked.State != OK || linked.Fix != "" || !strings.Contains(linked.Seen, "not connected") {
		t.Errorf("%+v", linked)
	}
	x.Building.CloudConnected = true
	x.troubled()[0].is(t, "again and again", Fail, "again and again for 3 hours: the broker closes")
	met.Times = 1
	x.troubled()[0].is(t, "over", Warn, "connected again; before, at 2001-09-09T01:46:40Z, the broker closes the connection")
	met.Cause, met.Seen = "unacknowledged", "the backend acknowledges nothing"
	x.troubled()[0].is(t, "silence", Fail, "for 3 hours nothing was acknowledged: the backend")
	x.Building.CloudContested = 7
	if found := x.troubled(); found != nil {
		t.Errorf("beside a contest: %v", found)
	}
}

func TestLengthHasTwoOfItsUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "0 seconds", time.Second: "1 second", 119 * time.Second: "119 seconds", 2 * time.Minute: "2 minutes",
		119 * time.Minute: "119 minutes", 3*time.Hour + 59*time.Minute: "3 hours", 47 * time.Hour: "47 hours", 49 * time.Hour: "2 days"} {
		if got := length(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// A demo has a cloud of its own, which no configuration names: what its gateway met
// there is said as of any other gateway.
func TestTroubleOfADemo(t *testing.T) {
	named := config.Default()
	named.Cloud.URL = "mqtt://127.0.0.1:1"
	unnamed := config.Default()
	for name, c := range map[string]*config.Config{"no configuration": nil, "none in it": &unnamed, "of another gateway": &named} {
		b := &Building{Identity: health.Identity{Simulated: true}}
		b.Clock.Now, b.OutboxDepth = time.Unix(1e9+6, 0), 4
		x := &examination{Options: Options{Building: b, Config: c}}
		if found := cloudBroker(t.Context(), x); found != nil {
			t.Errorf("%s, before the first connection: %v", name, found)
		}
		b.CloudTrouble = &health.Trouble{Cause: "unreachable", Seen: "the broker is not reached", Error: "dial: the line to the cloud is cut",
			Fix: "check the firewall", Times: 3, Since: time.Unix(1e9, 0)}
		found := cloudBroker(t.Context(), x)
		if len(found) != 1 || found[0].Name != "cloud link" || found[0].Fix != "roomgate sim cloud mend, if it was cut" {
			t.Fatalf("%s: %v", name, found)
		}
		found[0].is(t, name, Fail, "the gateway is not connected, and no connection has lasted a minute since 2001-09-09T01:46:40Z (6 seconds): the broker is not reached, 3 times in a row (dial: the line to the cloud is cut)")
		met := *b.CloudTrouble
		met.Error = "network is unreachable"
		b.CloudTrouble = &met
		if found = cloudBroker(t.Context(), x); len(found) != 1 || found[0].State != Fail || found[0].Fix != "check the firewall" {
			t.Errorf("%s, not cut: %v", name, found)
		}
		met.Error = "dial: the line to the cloud is cut"
		b.CloudConnected = true
		if found = cloudBroker(t.Context(), x); len(found) != 1 || found[0].Fix != "" {
			t.Errorf("%s, mended: %v, want nothing to do", name, found)
		}
		found[0].is(t, name, OK, "the gateway is connected again; before, at ")
		b.CloudTrouble = nil
		cloudBroker(t.Context(), x)[0].is(t, name, OK, "the gateway is connected, 4 messages wait")
	}
	if found := cloudBroker(t.Context(), &examination{}); found != nil {
		t.Errorf("no gateway and no cloud: %v", found)
	}
}
