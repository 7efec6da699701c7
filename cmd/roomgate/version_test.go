package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"roomgate/agent/api"
)

// TestContractsAreThoseOfTheDocuments: what `roomgate version` names is what the
// descriptions of the interfaces say, and what the list of changes promises.
func TestContractsAreThoseOfTheDocuments(t *testing.T) {
	var v1, messages struct{ Info struct{ Version string } }
	loadYAML(t, "agent/api/openapi.yaml", &v1)
	loadYAML(t, "agent/api/asyncapi.yaml", &messages)
	c := promised()
	if !slices.Equal(c.HTTP, []string{v1.Info.Version, "2.0"}) || !slices.Equal(c.HTTP, api.Versions()) || c.MQTT != messages.Info.Version {
		t.Errorf("the contracts are %s; the documents have HTTP %s and MQTT %s", c, v1.Info.Version, messages.Info.Version)
	}
	changes, err := os.ReadFile(filepath.Join(root, "cmd/roomgate/CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?s)^# What has changed\n.*?\n## [^\n]+\n\nContracts: ([^\n]+)\.\n`).FindSubmatch(changes)
	if heading == nil || string(heading[1]) != c.String() {
		t.Errorf("the newest version in CHANGELOG.md has the contracts %q, want %q", heading, c)
	}
}
