package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/auth"
)

const (
	// maxAnswer bounds what a gateway may say.
	maxAnswer = 16 << 20
	// answerTime bounds the wait for an answer; a device may take its time.
	answerTime = 45 * time.Second
)

// client talks to one gateway.
type client struct {
	base  string // "https://gateway:8080"
	key   string
	where string // for people
	http  *http.Client
	start string // how to start it, as ": COMMAND starts it"; empty: it is not said
}

// asking is what a command does that asks a gateway.
func asking(f func(cmd *cobra.Command, c *client, args []string) error) func(*cobra.Command, []string) error {
	return action(func(cmd *cobra.Command, args []string) error {
		c, err := connect(cmd)
		if err != nil {
			return err
		}
		return f(cmd, c, args)
	})
}

// connect finds the gateway that the command is for: the one of --url, or the
// one on this machine.
func connect(cmd *cobra.Command) (*client, error) {
	if address := text(cmd, "url"); address != "" {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fail(exitUsage, "--url %q is no address: want one as https://gateway:8080", address)
		}
		return overHTTP(strings.TrimRight(address, "/"), text(cmd, "key"), address), nil
	}
	data := text(cmd, "data")
	if data == "" && text(cmd, "config") != "" {
		data = dataFolder(cmd)
	}
	path, err := findSocket(data)
	if err != nil {
		return nil, err
	}
	return overSocket(path, answerTime), nil
}

// overHTTP talks to the gateway, or the fleet, at base; where names it for people.
func overHTTP(base, key, where string) *client {
	return &client{base: base, key: key, where: where, http: &http.Client{Timeout: answerTime}}
}

// overSocket talks to the gateway whose control socket is at path.
func overSocket(path string, patience time.Duration) *client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	return &client{base: "http://roomgate", where: path, http: &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: dial}}}
}

// call sends in as JSON and decodes the answer into out; nil is nothing.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	answer, raw, err := c.ask(ctx, method, path, in)
	if err != nil {
		return err
	}
	return c.decode(answer, raw, out)
}

// ask sends in as JSON, nil is nothing, and returns the answer with its body.
func (c *client) ask(ctx context.Context, method, path string, in any) (*http.Response, []byte, error) {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return nil, nil, err
		}
		body = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, nil, err
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return c.answered(r)
}

// answered sends a request and returns the answer with its body.
func (c *client) answered(r *http.Request) (*http.Response, []byte, error) {
	switch {
	case strings.HasPrefix(c.key, auth.OrganizationPrefix):
		r.Header.Set("X-Org-Api-Key", c.key)
	case c.key != "":
		r.Header.Set("X-API-Key", c.key)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, nil, c.unreachable(r.Context(), err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, nil, c.unreachable(r.Context(), err)
	}
	return answer, raw, nil
}

// decode takes an answer that is as it should be; a receipt is one, whatever
// its status says about the device.
func (c *client) decode(answer *http.Response, raw []byte, out any) error {
	isProblem := strings.HasPrefix(answer.Header.Get("Content-Type"), "application/problem+json")
	if isProblem || answer.StatusCode >= 300 && !isReceipt(out) {
		return c.refusal(answer, raw)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%s does not answer as a gateway does (%s): check the address", c.where, answer.Status)
	}
	return nil
}

// refusal is what a problem document says.
func (c *client) refusal(answer *http.Response, raw []byte) error {
	var problem struct{ Title, Detail, Field string }
	_ = json.Unmarshal(raw, &problem) // what is not JSON has no detail
	message := cmp.Or(problem.Detail, problem.Title, answer.Status)
	switch {
	case answer.StatusCode == http.StatusUnauthorized && problem.Field == "otp":
		return fail(exitRefused, "%s", message)
	case answer.StatusCode == http.StatusUnauthorized && c.key == "":
		return fail(exitRefused, "%s wants a key: give one with --key or %s", c.where, variable("key"))
	case answer.StatusCode == http.StatusUnauthorized:
		return fail(exitRefused, "%s wants another key: give one with --key or %s", c.where, variable("key"))
	case answer.StatusCode >= 500:
		return fail(exitFailed, "%s", message)
	case answer.StatusCode == http.StatusNotFound && problem.Field == "id":
		return &fault{exitRefused, &absent{message}}
	}
	return fail(exitRefused, "%s", message)
}

func (c *client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var cause *url.Error
	if errors.As(err, &cause) {
		err = cause.Err
	}
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EACCES) {
		return mayNot(exitUnreachable, c.where, "opened")
	}
	return fail(exitUnreachable, "no answer from %s: %v%s", c.where, err, c.start)
}

// absent is a refusal of an id that the gateway does not know.
type absent struct{ message string }

func (a *absent) Error() string { return a.message }

// absentID says such a refusal with what was typed, and where the ids are. Other errors
// stay.
func absentID(err error, kind, typed, list string) error {
	var gone *absent
	if !errors.As(err, &gone) {
		return err
	}
	return fail(exitRefused, "there is no %s with the id %q here: see %s", kind, typed, list)
}
