package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"roomgate/agent"

	"roomgate/cmd/roomgate/show"
)

// version is set by the linker.
var version = "dev"

// versionInfo is what this program is. A gateway asks a new release for it.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Schema   int    `json:"schema"` // of the database
}

func newVersion() *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "what this program is", Args: cobra.NoArgs, RunE: action(runVersion)}
	cmd.Flags().Bool("sbom", false, "list what is inside, as SPDX 2.3 in JSON")
	cmd.Flags().String("of", "", "list what is inside of another roomgate, with --sbom: its `FILE`")
	outputFlag(cmd)
	return cmd
}

func runVersion(cmd *cobra.Command, _ []string) error {
	if of := text(cmd, "of"); flagged(cmd, "sbom") {
		info, err := buildOf(of)
		if err != nil {
			return err
		}
		return show.JSON(cmd.OutOrStdout(), inside(info, version))
	} else if of != "" {
		return fail(exitUsage, "--of goes with --sbom: name both")
	}
	v := versionInfo{version, revision(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, agent.Schema}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), v)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "roomgate %s (%s, %s)\n", v.Version, v.Go, v.Platform)
	return nil
}

// revision is the commit that the program was built from, empty if the build
// did not record it.
func revision() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
