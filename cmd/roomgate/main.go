// Roomgate is the gateway of one building's meeting rooms. See the README.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // a small system has no zones of its own

	"roomgate/cmd/roomgate/show"
)

func main() { os.Exit(execute()) }

// execute runs the command line and returns the exit code. The first signal
// asks everything to end; by then the second one has its default effect.
func execute() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	stderr := &show.Safe{Out: os.Stderr, Say: asCalled}
	root := newRoot()
	root.SetOut(&show.Safe{Out: os.Stdout})
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	return report(stderr, cmd, err)
}
