package doctor

import (
	"context"
	"strings"
	"testing"

	"roomgate/agent/config"
)

// TestLogIns: a password that nobody has tried is tried, where no gateway runs with it.
func TestLogIns(t *testing.T) {
	c := example(t)
	c.Cloud.Username, c.Cloud.Password = "berlin-3", "wrong"
	hub := LogIn{Device: "bora-o3", At: "10.0.0.31:1883"}
	said := []LogIn{hub}
	x := &examination{Options: Options{Root: t.TempDir(), Config: c, ConfigFile: "gateway.yaml", Service: Service{Loaded: true}, LogIns: func(context.Context, *config.Config) []LogIn { return said }}}
	first := func() Finding {
		t.Helper()
		found := logIns(t.Context(), x)
		if len(found) != 1 {
			t.Fatalf("%+v", found)
		}
		return found[0]
	}
	first().is(t, "no hub there", Warn, "10.0.0.31:1883 does not answer, so the password is not proved")
	said[0].Answers = true
	first().is(t, "right", OK, "takes user and password")
	said[0].Refused = true
	f := first()
	f.is(t, "wrong", Fail, "10.0.0.31:1883 refuses the password")
	if !strings.Contains(f.Fix, "bora-o3") && !strings.Contains(f.Fix, "write the right password into ") || !strings.HasSuffix(f.Fix, ", then sudo systemctl restart roomgate") {
		t.Error(f.Fix)
	}
	said[0] = LogIn{Device: "bora-o3", At: "10.0.0.31:1883", Untried: true}
	first().is(t, "no time", Warn, "10.0.0.31:1883 was not asked: the others took too long")
	said[0] = LogIn{At: "mqtts://cloud.example.com", Username: "berlin-3", Answers: true, Refused: true}
	f = first()
	f.is(t, "the cloud", Fail, "mqtts://cloud.example.com refuses the user berlin-3 with this password")
	if !strings.Contains(f.Fix, "write the right password into gateway.yaml as cloud.password, then") {
		t.Error(f.Fix)
	}
	c.Cloud.Password, c.Cloud.PasswordFile = "", "/etc/cloud" // and this machine has no editor
	if f := first(); !strings.Contains(f.Fix, "into /etc/cloud (sudo tee /etc/cloud: type it, then return, then control and D), then") {
		t.Error(f.Fix)
	}
	x.Building = running()
	if found := logIns(t.Context(), x); found != nil {
		t.Errorf("the gateway itself says it: %+v", found)
	}
	x.Building.Pending = &Pending{Changed: true}
	first().is(t, "it runs with the configuration of before", Fail, "refuses")
}

// TestConfigurationTellsHowManyMore: the first mistake, and how many follow it.
func TestConfigurationTellsHowManyMore(t *testing.T) {
	first := config.Problem{File: "gateway.yaml", Line: 7, Column: 3, Message: "not YAML"}
	for n, want := range map[int]string{1: "gateway.yaml:7:3: not YAML", 2: "gateway.yaml:7:3: not YAML; and 1 mistake more", 4: "gateway.yaml:7:3: not YAML; and 3 mistakes more"} {
		x := &examination{Options: Options{ConfigFile: "gateway.yaml", ConfigError: &config.Errors{Problems: make([]config.Problem, n)}}}
		x.ConfigError.(*config.Errors).Problems[0] = first
		if f := configuration(t.Context(), x)[0]; f.Seen != want {
			t.Errorf("%d problems: %q, want %q", n, f.Seen, want)
		}
	}
}
