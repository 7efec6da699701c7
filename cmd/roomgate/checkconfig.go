package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"roomgate/agent/config"
)

func newCheckConfig() *cobra.Command {
	cmd := &cobra.Command{Use: "check-config [FILE]", Short: "say what is wrong with a configuration, with file, line and column",
		Args: cobra.MaximumNArgs(1), RunE: action(checkConfig)}
	gatewayFlags(cmd)
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
	c, err := loadConfig(cmd)
	var problems *config.Errors
	if wantsJSON(cmd) && (err == nil || errors.As(err, &problems)) {
		return errors.Join(printProblems(cmd, problems), err)
	}
	if err != nil {
		return err
	}
	devices := 0
	for _, s := range c.Spaces {
		devices += len(s.Devices)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: valid, %s with %s\n",
		configFile(cmd), count(len(c.Spaces), "meeting space"), count(devices, "device"))
	return err
}

func printProblems(cmd *cobra.Command, problems *config.Errors) error {
	answer := struct {
		File     string          `json:"file"`
		Valid    bool            `json:"valid"`
		Problems []configProblem `json:"problems"`
	}{configFile(cmd), problems == nil, []configProblem{}}
	if problems != nil {
		for _, p := range problems.Problems {
			answer.Problems = append(answer.Problems, configProblem(p))
		}
	}
	return printJSON(cmd.OutOrStdout(), answer)
}
