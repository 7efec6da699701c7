package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"roomgate/cloud/broker"
)

// Simulated gateways log in with the passwords of cloud cell; who is refused is told so.
func TestSimulatedGatewaysLogIn(t *testing.T) {
	t.Parallel()
	b, err := broker.Open(broker.Options{Listen: "127.0.0.1:0", Users: map[string]string{"sim-1": "one", "sim-2": "two"}})
	if err != nil {
		t.Fatal(err)
	}
	serving, end := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() { _ = b.Run(serving) })
	defer func() { end(); loop.Wait(); _ = b.Close() }()
	dir := t.TempDir()
	for user, password := range map[string]string{"sim-1": "one\n", "sim-2": "two\n"} {
		if err := os.WriteFile(filepath.Join(dir, user+".password"), []byte(password), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	sim := func(out io.Writer, args ...string) error {
		cmd := newFleetSim()
		cmd.SetArgs(append([]string{"sim", "2", "--every", "1s", "--cloud", "mqtt://" + b.Addr().String()}, args...))
		cmd.SetOut(out)
		cmd.SetErr(io.Discard)
		return cmd.ExecuteContext(ctx)
	}
	if err := sim(io.Discard); err == nil || !strings.Contains(err.Error(), "refuses the log-in") {
		t.Errorf("without a login: %v", err)
	}
	seen := &stopAt{stop: stop, words: "2 of 2 gateways are connected"}
	if err := sim(seen, "--logins", dir); err != nil || !seen.met {
		t.Errorf("with logins: %v, said %v", err, seen.met)
	}
}

// stopAt stops a command when it has said some words, or too much.
type stopAt struct {
	stop  func()
	words string
	met   bool
	lines int
}

func (s *stopAt) Write(p []byte) (int, error) {
	s.lines++
	if s.met = s.met || strings.Contains(string(p), s.words); s.met || s.lines > 30 {
		s.stop()
	}
	return len(p), nil
}
