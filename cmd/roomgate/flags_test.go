package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"roomgate/agent/config"
)

func TestFlagBeatsEnvironment(t *testing.T) {
	t.Setenv("ROOMGATE_LISTEN", "127.0.0.1:1")
	t.Setenv("ROOMGATE_GATEWAY", "from-environment")
	t.Setenv("ROOMGATE_CLOUD", "")
	cmd := &cobra.Command{}
	gatewayFlags(cmd)
	if err := cmd.ParseFlags([]string{"--listen", "127.0.0.1:2"}); err != nil {
		t.Fatal(err)
	}
	if err := fromEnvironment(cmd.Flags()); err != nil {
		t.Fatal(err)
	}
	want := []config.Setting{
		{Key: "http.listen", Value: "127.0.0.1:2", Origin: "--listen"},
		{Key: "gateway.id", Value: "from-environment", Origin: "ROOMGATE_GATEWAY"},
	}
	if diff := cmp.Diff(want, overlay(cmd.Flags())); diff != "" {
		t.Error(diff)
	}
}

// Every flag that a variable stands in for says so in its help, and none says
// so in vain.
func TestVariablesAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, name := range environment {
			if f := cmd.Flags().Lookup(name); f != nil && hasVariable(f) {
				documented[name] = true
				if want := withVariable("", name); len(f.Usage) < len(want) || f.Usage[len(f.Usage)-len(want):] != want {
					t.Errorf("%s --%s does not name %s", cmd.CommandPath(), name, variable(name))
				}
			}
		}
		for _, below := range cmd.Commands() {
			look(below)
		}
	}
	look(newRoot())
	for _, name := range environment {
		if !documented[name] {
			t.Errorf("no command has --%s", name)
		}
	}
}
