package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// What cannot work is refused with what is wrong. That it serves is a test of package postgres, which
// starts a database.
func TestRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fleet")
	all := []string{"-fleet", dir, "-at", "mqtt://127.0.0.1:1", "-database", "postgres://x@127.0.0.1:1/x?connect_timeout=2"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "have to be named"},
		{append(all, "more"), "have to be named"},
		{append(all, "-key", filepath.Join(dir, "none")), "cloud key create"},
		{all, "open ledger"},
		{append(all, "-nothing"), "flag provided but not defined"},
		{append(all, "-ca-file", filepath.Join(dir, "none.pem")), "none.pem"},
		{append(all, "-ca", dir, "-cells", dir), "open ledger"},
	} {
		if err := run(t.Context(), c.args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v: want %q", c.args, err, c.want)
		}
	}
	if err := run(t.Context(), append(all, "-nothing"), io.Discard, io.Discard); !errors.Is(err, errUsage) {
		t.Errorf("an unknown flag ends with %v: want 2 as the exit code", err)
	}
	if err := run(t.Context(), []string{"-help"}, io.Discard, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help: %v", err)
	}
}

// A loop that fails ends the other one.
func TestBoth(t *testing.T) {
	no := errors.New("no")
	err := both(t.Context(), func(context.Context) error { return no }, func(ctx context.Context) error { <-ctx.Done(); return nil })
	if !errors.Is(err, no) {
		t.Errorf("it ends with %v", err)
	}
}
