package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"roomgate/agent/config"

	"roomgate/cmd/roomgate/show"
)

// The exit codes, as the help of the root command has them.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitConfig      = 3
	exitUnreachable = 4
	exitRefused     = 5
)

// fault is an error with the exit code that it ends in.
type fault struct {
	code int
	err  error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

func fail(code int, format string, args ...any) error {
	return &fault{code, fmt.Errorf(format, args...)}
}

// action is what a command does. Its errors are failures; what cobra says
// before it comes to that is wrong usage.
func action(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := f(cmd, args)
		var coded *fault
		var typed *show.UsageError
		switch {
		case err == nil || errors.As(err, &coded):
			return err
		case errors.As(err, &typed):
			return &fault{exitUsage, typed}
		}
		return &fault{exitFailed, err}
	}
}

// report tells the user what went wrong and returns the exit code.
func report(w io.Writer, cmd *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	var coded *fault
	if !errors.As(err, &coded) {
		coded = &fault{exitUsage, err}
	}
	var problems *config.Errors
	if errors.As(err, &problems) {
		for _, p := range problems.Problems {
			fmt.Fprintln(w, show.PlainLines(p.String()))
		}
		fmt.Fprintf(w, "roomgate: configuration invalid: %s\n", show.Count(len(problems.Problems), "problem"))
		return coded.code
	}
	fmt.Fprintf(w, "roomgate: %s\n", show.PlainLines(coded.Error()))
	if coded.code == exitUsage {
		fmt.Fprintf(w, "roomgate: see %s --help\n", cmd.CommandPath())
	}
	return coded.code
}
