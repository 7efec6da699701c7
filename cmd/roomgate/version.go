package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/agent"
	"roomgate/agent/api"
	"roomgate/agent/config"
	"roomgate/cloud"

	"roomgate/cmd/roomgate/show"
)

// version and commit are set by the linker.
var (
	version = "dev"
	commit  string
)

// versionInfo is what this program is. A gateway asks a new release for it.
type versionInfo struct {
	Version   string    `json:"version"`
	Revision  string    `json:"revision,omitempty"`
	Go        string    `json:"go"`
	Platform  string    `json:"platform"`
	Schema    int       `json:"schema"` // of the database
	Contracts contracts `json:"contracts"`
}

// contracts are the versions of what others rely on: clients, the cloud, who writes the
// configuration, and an earlier release that takes the database back.
type contracts struct {
	HTTP          []string `json:"http"`
	MQTT          string   `json:"mqtt"`
	Configuration int      `json:"configuration"`
	Database      int      `json:"database"`
}

func promised() contracts {
	return contracts{api.Versions(), cloud.Version, config.Version, agent.Schema}
}

// String is one line for people.
func (c contracts) String() string {
	return fmt.Sprintf("HTTP %s, MQTT %s, configuration %d, database %d", strings.Join(c.HTTP, " and "), c.MQTT, c.Configuration, c.Database)
}

func newVersion() *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "show the version", Args: cobra.NoArgs, RunE: action(runVersion)}
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
	v := versionInfo{version, revision(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, agent.Schema, promised()}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), v)
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), versionLines())
	return err
}

// versionLines are the version for people, which --version shows too.
func versionLines() string {
	return fmt.Sprintf("roomgate %s (%s, %s)\ncommit     %s\ncontracts  %s\n",
		version, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, show.Dash(revision()), promised())
}

// revision is the commit that the program was built from, empty if the build
// did not record it.
func revision() string {
	info, _ := debug.ReadBuildInfo()
	if commit != "" || info == nil {
		return commit
	}
	return settingOf(info, "vcs.revision")
}
