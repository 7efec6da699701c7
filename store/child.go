package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// InChild returns a check for Options that runs a command with the database's path as last argument. The command
// calls Verify and exits with 0 if the file is sound. A child that crashes or does not end in time has met damage
// that no error could tell. Any other failure, such as a child stopped with its service, decides nothing.
func InChild(name string, args ...string) func(ctx context.Context, path string) error {
	return func(ctx context.Context, path string) error {
		limit, err := checkTime(path)
		if err != nil {
			return err
		}
		timed, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		cmd := exec.CommandContext(timed, name, append(args[:len(args):len(args)], path)...)
		cmd.WaitDelay = time.Second
		var said beginning
		cmd.Stderr = &said
		err = cmd.Run()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case timed.Err() != nil:
			return damage("the check did not end within %v", limit)
		case crashed(err, said.buf.String()):
			return damage("the check crashed: %v: %s", err, said.line())
		}
		return fmt.Errorf("check: %w: %s", err, said.line())
	}
}

// crashed tells a crash from an ordinary exit. The Go runtime exits with 2, as other programs do for wrong usage.
func crashed(err error, said string) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return slices.Contains(crashSignals, status.Signal())
	}
	return exit.ExitCode() == 2 && (strings.Contains(said, "panic: ") || strings.Contains(said, "fatal error: ") || strings.Contains(said, "unexpected fault"))
}

var crashSignals = []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGABRT, syscall.SIGILL, syscall.SIGFPE, syscall.SIGTRAP}

// checkTime is 30 s and one more for every 2 MB, which the slowest card reads in that time.
func checkTime(path string) (time.Duration, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return 30*time.Second + time.Duration(info.Size()/(2<<20))*time.Second, nil
}

// beginning keeps what a child says first, which is the message and not the stack.
type beginning struct{ buf bytes.Buffer }

const beginningSize = 1024

func (b *beginning) Write(p []byte) (int, error) {
	if room := beginningSize - b.buf.Len(); room > 0 {
		b.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (b *beginning) line() string {
	line, _, _ := strings.Cut(strings.TrimSpace(b.buf.String()), "\n")
	return line
}
