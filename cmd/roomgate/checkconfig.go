package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"roomgate/agent/config"
	"roomgate/agent/doctor"
	"roomgate/agent/roombroker"
	"roomgate/drivers/all"

	"roomgate/cmd/roomgate/show"
)

func newCheckConfig() *cobra.Command {
	cmd := &cobra.Command{Use: "check-config [FILE]", Short: "check a configuration: each mistake with file, line and column",
		Args: cobra.MaximumNArgs(1), RunE: action(checkConfig)}
	gatewayFlags(cmd)
	cmd.Flags().Bool("start", false, "only what keeps a gateway from starting, as an upgrade asks")
	outputFlag(cmd)
	return cmd
}

// configProblem is one problem as JSON.
type configProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
	Nearest string `json:"nearest,omitempty"`
}

func checkConfig(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		if err := cmd.Flags().Set("config", args[0]); err != nil {
			return err
		}
	}
	c, err := heard(cmd.Context(), func() (*config.Config, error) { return configToCheck(cmd) })
	// An update asks from within the service, which alone has that folder: a room that did not work before keeps no
	// building from it.
	if !flagged(cmd, "start") && os.Getenv("CREDENTIALS_DIRECTORY") == "" {
		err = withBoard(cmd.Context(), c, configFile(cmd), err)
	}
	var problems *config.Errors
	if wantsJSON(cmd) && (err == nil || errors.As(err, &problems)) {
		return errors.Join(printProblems(cmd, c, problems), err)
	}
	if err != nil {
		return err
	}
	devices := 0
	for _, s := range c.Spaces {
		devices += len(s.Devices)
	}
	out := cmd.OutOrStdout()
	_, err = fmt.Fprintf(out, "%s: valid, %s with %s\n",
		configFile(cmd), show.Count(len(c.Spaces), "meeting space"), show.Count(devices, "device"))
	for _, a := range adviceOn(cmd.Context(), c) {
		_, e := fmt.Fprintf(out, "advice: %s: %s: %s\n", a.Key, a.Message, asCalled(a.Fix))
		err = errors.Join(err, e)
	}
	return err
}

// configToCheck loads the configuration, also one that the shell hands over as a pipe: nobody reads
// it again, as a gateway does.
func configToCheck(cmd *cobra.Command) (*config.Config, error) {
	path := configFile(cmd)
	if path != "/dev/stdin" && !strings.HasPrefix(path, "/dev/fd/") && !strings.HasPrefix(path, "/proc/self/fd/") {
		return loadConfig(cmd)
	}
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return loadConfig(cmd)
	}
	pipe, err := os.Open(path)
	if err != nil {
		return nil, unreadable(cmd, path, err)
	}
	defer pipe.Close()
	c, err := config.Read(path, pipe, all.All(), overlay(cmd.Flags())...)
	if err != nil {
		return nil, unreadable(cmd, path, err)
	}
	return absoluteData(c)
}

// configAdvice is something that holds and should be written in another way.
type configAdvice struct {
	Key     string `json:"key"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// adviceOn is what a valid configuration should say itself; c may be nil.
func adviceOn(ctx context.Context, c *config.Config) []configAdvice {
	all := []configAdvice{}
	if c == nil {
		return all
	}
	if message, fix := c.SignInAdvice(); message != "" {
		all = append(all, configAdvice{"smtp.url", message, fix})
	}
	all = append(all, secretAdvice(c)...)
	for _, d := range doctor.Doubtful(ctx, c, checkTime) {
		all = append(all, configAdvice{c.Naming(d.Device, d.Name), d.Name + " is hardly the name of a line", d.Why})
	}
	if message, fix := c.Cloud.AcksAdvice(); message != "" {
		all = append(all, configAdvice{"cloud.acks", message, fix})
	}
	if c.Broker.Listen == "" {
		return all
	}
	for _, a := range roombroker.Of(c).Advice() {
		all = append(all, configAdvice{a.Key, a.Seen, a.Fix})
	}
	return all
}

func printProblems(cmd *cobra.Command, c *config.Config, problems *config.Errors) error {
	answer := struct {
		File     string          `json:"file"`
		Valid    bool            `json:"valid"`
		Problems []configProblem `json:"problems"`
		Advice   []configAdvice  `json:"advice"`
	}{configFile(cmd), problems == nil, []configProblem{}, []configAdvice{}}
	if problems == nil {
		answer.Advice = adviceOn(cmd.Context(), c)
	} else {
		for _, p := range problems.Problems {
			answer.Problems = append(answer.Problems, configProblem(p))
		}
	}
	return show.JSON(cmd.OutOrStdout(), answer)
}
