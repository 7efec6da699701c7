package cloud

import (
	"strings"
	"testing"
)

func TestTopics(t *testing.T) {
	g := Topics{"demo"}
	for topic, want := range map[string]string{
		g.Up("event"):                "roomgate/v1/demo/up/event",
		g.Up("state", "aurora"):      "roomgate/v1/demo/up/state/aurora",
		g.Down("command"):            "roomgate/v1/demo/down/command",
		Topics{"+"}.Up("+"):          "roomgate/v1/+/up/+",
		Topics{"+"}.Up("state", "#"): "roomgate/v1/+/up/state/#",
	} {
		if topic != want {
			t.Errorf("%s, want %s", topic, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		topic       string
		up          bool
		level, rest string
		ok          bool
	}{
		{"roomgate/v1/demo/up/event", true, "event", "", true},
		{"roomgate/v1/demo/down/command", false, "command", "", true},
		{"roomgate/v1/demo/up/state/a/b", true, "state", "a/b", true},
		{"roomgate/v1/other/up/event", false, "", "", false},
		{"roomgate/v2/demo/up/event", false, "", "", false},
		{"roomgate/v1/demo/sideways/event", false, "", "", false},
		{"roomgate/v1/demo/up", false, "", "", false},
		{"roomgate/v1/demo/up/", false, "", "", false},
		{"roomgate/v1/demo/up/state/", false, "", "", false},
		{"roomgate/v1//up/event", false, "", "", false},
		{"roomgate/v1/demo/up/+", false, "", "", false},
		{"/roomgate/v1/demo/up/event", false, "", "", false},
		{"", false, "", "", false},
	} {
		up, level, rest, ok := Topics{"demo"}.Parse(c.topic)
		if up != c.up || level != c.level || rest != c.rest || ok != c.ok {
			t.Errorf("%s: %v %q %q %v", c.topic, up, level, rest, ok)
		}
	}
	if _, _, _, ok := (Topics{"+"}).Parse("roomgate/v1/any/up/event"); !ok {
		t.Error("the gateway + does not match any")
	}
}

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		level, name string
		fits        bool
	}{
		{"command", "roomgate.command", true}, {"command", "roomgate.command.x", false}, {"command", "roomgate.schedule", false},
		{"event", "roomgate.event.doorForced", true}, {"event", "roomgate.event", true}, {"event", "roomgate.events", false},
	} {
		if TypeFits(c.level, c.name) != c.fits {
			t.Errorf("%s on %s: want %v", c.name, c.level, c.fits)
		}
	}
	for id, want := range map[string]bool{"demo": true, "a-b_c.9": true, "": false, "a/b": false, "+": false, strings.Repeat("x", 65): false} {
		if ValidGateway(id) != want {
			t.Errorf("gateway %q: want %v", id, want)
		}
	}
}

func TestClientID(t *testing.T) {
	for gateway, want := range map[string]string{"hq": "roomgate-hq", "berlin.3": "roomgate-berlin--3", "a.b.c": "roomgate-a--b--c"} {
		if got := ClientID(gateway); got != want {
			t.Errorf("%s is %s, want %s", gateway, got, want)
		}
	}
}

// A topic that parses is the one that its parts make.
func FuzzParseTopic(f *testing.F) {
	f.Add("roomgate/v1/demo/up/event")
	f.Add("roomgate/v1/demo/down/state/a/b")
	f.Add("roomgate/v1/+/up/#")
	f.Fuzz(func(t *testing.T, topic string) {
		gateway, up, level, rest, ok := ParseTopic(topic)
		if !ok {
			return
		}
		var more []string
		if rest != "" {
			more = []string{rest}
		}
		back := Topics{gateway}.Down(level, more...)
		if up {
			back = Topics{gateway}.Up(level, more...)
		}
		if back != topic || strings.ContainsAny(topic, "+#") {
			t.Fatalf("%q became %q", topic, back)
		}
	})
}

// TestTrialID: a log-in that is tried throws out no gateway, whatever its id, and no other trial.
func TestTrialID(t *testing.T) {
	first, second := TrialID("berlin.3"), TrialID("berlin.3")
	if strings.HasPrefix(first, ClientID("")) || strings.Contains(first, ".") || first == second {
		t.Errorf("a gateway can have the session %q, or NATS refuses it, or a second trial is %q", first, second)
	}
}
