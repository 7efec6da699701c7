//go:build lab

package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"roomgate/drivers"
	"roomgate/drivers/host"
)

// TestMain lets the binary also be the processes that the tests need: the
// world of a gateway, a program that holds a line, and one that drives a
// device and can be killed.
func TestMain(m *testing.M) {
	roles := map[string]func(args []string) error{"world": serveWorld, "take": take, "drive": drive}
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		if err := roles[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// take holds an output line, low, until its input ends.
func take(args []string) error {
	o, err := host.New().Output(args[0], false)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1))
	return o.Close()
}

// drive opens a device, gives it orders as "action" or "sub/action" or
// "sub/action=value", and closes it when its input ends.
func drive(args []string) error {
	opened := map[string]func() drivers.Options{
		"lock": lockOptions, "lock-low": lowLockOptions, "light": lightOptions, "fan": fanOptions, "o3-sensor": hubOptions,
		"display": displayOptions,
	}[args[0]]
	d, err := opened().Open(context.Background(), host.New())
	if err != nil {
		return err
	}
	for _, o := range args[1:] {
		if err := order(d, o); err != nil {
			return errors.Join(err, d.Close())
		}
	}
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1))
	return d.Close()
}

func order(d drivers.Driver, text string) error {
	name, value, _ := strings.Cut(text, "=")
	sub, action, ok := strings.Cut(name, "/")
	if !ok {
		sub, action = "", name
	}
	a, _, _ := d.Describe().Action(sub, action)
	args, err := a.Parse(json.RawMessage(value))
	if err != nil {
		return err
	}
	_, err = d.Do(context.Background(), drivers.Command{Sub: sub, Action: action, Args: args})
	return err
}

// child is another process in one of the roles.
type child struct {
	*exec.Cmd
	input interface{ Close() error }
}

// start returns once the child says that it is ready.
func start(t *testing.T, role ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0], role...)}
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.input = in
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%v did not get ready: %q, %v", role, line, err)
	}
	return c
}

// stop ends the child as its service manager would ask it to.
func (c *child) stop(t *testing.T) {
	t.Helper()
	_ = c.input.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("%v: %v", c.Args, err)
	}
}

// kill is kill -9.
func (c *child) kill() {
	_ = c.Process.Kill()
	_ = c.Wait()
}
