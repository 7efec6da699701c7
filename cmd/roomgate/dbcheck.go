package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/store"
)

// checkLimit is how long a database may take to read; bbolt can loop for ever
// on a damaged one.
const checkLimit = 30 * time.Second

// newDBCheck is the child process in which a gateway reads its database before
// it opens it: a damaged page can end the process that reads it.
func newDBCheck() *cobra.Command {
	return &cobra.Command{Use: "dbcheck FILE", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "read a whole database and verify its checksums",
		RunE: action(func(_ *cobra.Command, args []string) error {
			err := store.Verify(args[0])
			if err != nil && !errors.Is(err, store.ErrDamaged) {
				return &fault{exitRefused, err}
			}
			return err
		})}
}

// checkDatabase runs dbcheck. An error that is not store.ErrDamaged means that
// the check could not be made.
func checkDatabase(ctx context.Context, path string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program for the check: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	said := &head{most: 512}
	cmd := exec.CommandContext(limited, self, "dbcheck", path)
	cmd.Stderr = said
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("%w: reading it did not end in %s", store.ErrDamaged, checkLimit)
	case errors.As(err, &ended) && ended.ExitCode() != exitRefused:
		return fmt.Errorf("%w: %s (%w)", store.ErrDamaged, said, ended)
	}
	return fmt.Errorf("check the database: %w", err)
}

// head keeps the first line of what a child says: a crash says what happened
// first, and goes on for pages.
type head struct {
	most int
	text bytes.Buffer
}

func (h *head) Write(p []byte) (int, error) {
	if room := h.most - h.text.Len(); room > 0 {
		h.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (h *head) String() string {
	first, _, _ := strings.Cut(h.text.String(), "\n")
	return strings.TrimPrefix(first, "roomgate: ")
}
