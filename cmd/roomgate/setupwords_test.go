package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"roomgate/agent/config"
	"roomgate/cloud"
)

// TestSetupNamesTheFlag: who gives no id of the gateway is told how.
func TestSetupNamesTheFlag(t *testing.T) {
	dir := t.TempDir()
	answers := filepath.Join(dir, "answers.yaml")
	if err := os.WriteFile(answers, []byte("gateway: {name: Atlas}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := newRoot()
	root.SetArgs([]string{"setup", "--yes", "--no-doctor", "--config", filepath.Join(dir, "g.yaml"), "--answers", answers})
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	if _, err := root.ExecuteContextC(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "gateway.id is missing: want 1 to 64 of a-z A-Z 0-9 . _ -, or --gateway ID") {
		t.Errorf("it says %v", err)
	}
}

// TestSetupNamesThePassword: the next command stands behind the password that the broker refuses.
func TestSetupNamesThePassword(t *testing.T) {
	c := config.Default()
	c.Cloud.Username, c.Cloud.PasswordFile = "berlin-3", "${CREDENTIALS_DIRECTORY}/secret_cloud"
	for cause, want := range map[cloud.Cause]string{"": "", cloud.CauseMisconfigured: "",
		cloud.CauseLogin: "write the right password of cloud user berlin-3 into /etc/roomgate/credentials/cloud, for the broker refuses this one, then: "} {
		w := &wizard{knows: func(config.Cloud, string) cloud.Trouble { return cloud.Trouble{Cause: cause} }}
		if got := w.refused(&c); got != want {
			t.Errorf("%q: %q", cause, got)
		}
	}
}
